"""Serialized examples for the pipelines of both libraries, whose messages make them."""


def maker(tf):
    """A function that makes an example of lists of values."""

    def example(**features):
        return tf.train.Example(features=_features(tf, features)).SerializeToString()

    return example


def sequence_maker(tf):
    """A function that makes a sequence example of a dict of lists and of lists of lists."""

    def example(context, **steps):
        lists = {
            name: tf.train.FeatureList(feature=[_feature(tf, values) for values in each])
            for name, each in steps.items()
        }
        return tf.train.SequenceExample(
            context=_features(tf, context),
            feature_lists=tf.train.FeatureLists(feature_list=lists),
        ).SerializeToString()

    return example


def _features(tf, features):
    found = {name: _feature(tf, values) for name, values in features.items()}
    return tf.train.Features(feature=found)


def _feature(tf, values):
    if not values:
        return tf.train.Feature()
    if isinstance(values[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
