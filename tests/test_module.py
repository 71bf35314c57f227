"""tf.Module: names, scopes, and the order in which variables and modules are found."""

import collections
import copy
import inspect

import pytest

import gradtape as tf


def variable(name, **options):
    return tf.Variable(1.0, name=name, **options)


def names(found):
    return [value.name.removesuffix(":0") for value in found]


class Holder(tf.Module):
    """A module with the given attributes."""

    def __init__(self, module_name=None, **attributes):
        super().__init__(module_name)
        for name, value in attributes.items():
            setattr(self, name, value)


class TestName:
    @pytest.mark.parametrize(
        ("class_name", "expected"),
        [
            ("A", "a"),
            ("ABC", "abc"),
            ("ABc", "a_bc"),
            ("aB", "a_b"),
            ("MyBigModule", "my_big_module"),
            ("HTTPServer2D", "http_server2_d"),
            ("Conv2DTranspose", "conv2_d_transpose"),
            ("Resnet50V2", "resnet50_v2"),
            ("FOO2", "foo2"),
            ("Foo123Bar", "foo123_bar"),
            ("_Private", "__private"),
            ("lower_Case", "lower__case"),
            ("Ab_C", "ab_c"),
            ("Élan", "élan"),
        ],
    )
    def test_from_the_class(self, class_name, expected):
        assert type(class_name, (tf.Module,), {})().name == expected

    @pytest.mark.parametrize("name", ["x", "_x", "X1_y", "class"])
    def test_given(self, name):
        assert tf.Module(name).name == tf.Module(name=name).name == name

    @pytest.mark.parametrize("name", ["1bad", "a/b", "", "a b", "é"])
    def test_invalid(self, name):
        with pytest.raises(
            ValueError,
            match=(
                r"is not a valid module name\. Module names must be valid Python identifiers "
                r"\(e\.g\. a valid class name\)\.$"
            ),
        ):
            tf.Module(name)

    @pytest.mark.beyond_tensorflow
    def test_invalid_by_its_last_character(self):
        with pytest.raises(ValueError, match="is not a valid module name"):
            tf.Module("x\n")

    def test_not_a_string(self):
        with pytest.raises(TypeError):
            tf.Module(3)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "attribute", ["name", "name_scope", "variables", "trainable_variables", "submodules"]
    )
    def test_read_only(self, attribute):
        with pytest.raises(
            AttributeError, match=f"property '{attribute}' of 'Module' object has no setter"
        ):
            setattr(tf.Module(), attribute, None)

    def test_without_super_init(self):
        class NoSuper(tf.Module):
            def __init__(self):
                self.v = variable("v")

        module = NoSuper()
        assert names(module.variables) == ["v"]
        with pytest.raises(AttributeError, match="'NoSuper' object has no attribute '_name'"):
            _ = module.name
        with pytest.raises(AttributeError, match="'NoSuper' object has no attribute '_name_scope'"):
            _ = module.name_scope


class Dense(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        with self.name_scope:
            self.early = variable("early")
        self.late = None

    @tf.Module.with_name_scope
    def __call__(self, value, scale=2):
        """Makes its variable on first use."""
        if self.late is None:
            self.late = variable("late")
        return value * scale

    @tf.Module.with_name_scope
    def fail(self):
        raise KeyError("fail")


class TestNameScope:
    def test_prefixes_variables(self):
        module = Dense()
        assert module(3) == 6
        assert module(3, scale=5) == 15
        assert module.name_scope.name == "dense/"
        assert names(module.variables) == ["dense/early", "dense/late"]
        assert names(Dense("other").variables) == ["other/early"]

    def test_place_of_construction_counts(self):
        with tf.name_scope("outer"):
            module = Dense()
        with tf.name_scope("elsewhere"):
            module(1)
        assert module.name == "dense"
        assert names(module.variables) == ["outer/dense/early", "outer/dense/late"]

    def test_is_left_after_an_error(self):
        with pytest.raises(KeyError):
            Dense().fail()
        assert variable("v").name == "v:0"

    def test_method_keeps_its_documentation(self):
        assert Dense.__call__.__name__ == "__call__"
        assert Dense.__call__.__doc__ == "Makes its variable on first use."
        assert str(inspect.signature(Dense.__call__)) == "(self, value, scale=2)"


class TestSearch:
    def test_empty(self):
        module = tf.Module()
        assert module.variables == ()
        assert module.trainable_variables == ()
        assert module.non_trainable_variables == ()
        assert module.submodules == ()

    def test_own_first_in_sorted_order_then_submodules(self):
        module = Holder(
            z=variable("z"),
            a=variable("a"),
            _p=variable("p"),
            B=variable("B"),
            s2=Holder("s2", y=variable("s2y"), t=Holder("t", q=variable("tq"))),
            s1=Holder("s1", x=variable("s1x")),
        )
        assert names(module.variables) == ["B", "p", "a", "z", "s1x", "s2y", "tq"]
        assert names(module.submodules) == ["s1", "s2", "t"]

    def test_each_submodule_is_finished_before_the_next(self):
        module = Holder(
            a=Holder("a1", v=variable("v")),
            b=Holder("b1", a=Holder("a2", z=variable("z"))),
            c=[[Holder("c1", q=variable("q"))]],
            d=variable("d"),
        )
        assert names(module.variables) == ["d", "v", "z", "q"]
        assert names(module.submodules) == ["a1", "b1", "c1", "a2"]

    def test_containers(self):
        pair = collections.namedtuple("pair", "x y")
        module = Holder(
            b=[variable("b0"), Holder("bm", v=variable("bmv")), variable("b1")],
            a={"z": variable("az"), "y": Holder("ay", k=variable("ayk"))},
            c=(variable("c0"), [Holder("cm", v=variable("cmv"))]),
            d=collections.defaultdict(list, {"k": [variable("dk")]}),
            n=pair(variable("nx"), Holder("ny", v=variable("nyv"))),
            v={"b": variable("vb"), "a": variable("va")}.values(),
        )
        assert names(module.variables) == [
            *("az", "b0", "b1", "c0", "dk", "nx", "vb", "va"),
            *("ayk", "bmv", "cmv", "nyv"),
        ]
        assert names(module.submodules) == ["ay", "bm", "cm", "ny"]

    def test_lists_may_grow(self):
        module = Holder(layers=[])
        module.layers.append(variable("later"))
        assert names(module.variables) == ["later"]
        del module.layers
        assert module.variables == ()

    def test_trainable_or_not(self):
        module = Holder(
            t=variable("t"),
            n=variable("n", trainable=False),
            s=Holder(a=variable("sa", trainable=False), b=variable("sb")),
        )
        assert names(module.variables) == ["n", "t", "sa", "sb"]
        assert names(module.trainable_variables) == ["t", "sb"]
        assert names(module.non_trainable_variables) == ["n", "sa"]

    def test_results_are_tuples_of_the_same_objects(self):
        v, s = variable("v"), Holder()
        module = Holder(v=v, s=s)
        assert isinstance(module.variables, tuple)
        assert module.variables[0] is module.trainable_variables[0] is v
        assert isinstance(module.submodules, tuple)
        assert module.submodules[0] is s

    def test_duplicates_are_listed_once(self):
        v = variable("v")
        shared = Holder("shared", v=v)
        module = Holder(a=v, b=v, c=shared, d=shared, e=[v, shared, v])
        assert names(module.variables) == ["v"]
        assert names(module.submodules) == ["shared"]

    def test_cycles_end(self):
        module = Holder("root")
        module.me = module
        module.child = Holder("child", parent=module, v=variable("v"))
        assert names(module.variables) == ["v"]
        assert names(module.submodules) == ["child"]

    def test_what_is_not_searched(self):
        class Plain:
            def __init__(self):
                self.v = variable("hidden")

        class WithClassAttribute(Holder):
            shared = variable("class")

            @property
            def computed(self):
                return variable("property")

        module = WithClassAttribute(
            plain=Plain(),
            items={1, 2},
            generator=(value for value in [variable("generator")]),
            keep=variable("keep"),
        )
        assert names(module.variables) == ["keep"]

    def test_ignored_attributes(self):
        class Ignoring(Holder):
            _TF_MODULE_IGNORED_PROPERTIES = frozenset(["skip"]).union(
                tf.Module._TF_MODULE_IGNORED_PROPERTIES
            )

        assert names(Ignoring(skip=variable("skip"), keep=variable("keep")).variables) == ["keep"]

    def test_unsortable_keys(self):
        module = Holder(d={1: variable("one"), "a": variable("a")})
        with pytest.raises(ValueError, match=r"^Error processing property 'd' of ") as raised:
            _ = module.variables
        assert isinstance(raised.value.__cause__, TypeError)

    def test_default_repr_and_identity(self):
        module = Holder()
        assert repr(module).startswith("<")
        assert " object at 0x" in repr(module)
        assert module != Holder()
        assert len({module, module}) == 1

    def test_deepcopy(self):
        module = Holder("m", v=variable("v"))
        duplicate = copy.deepcopy(module)
        assert duplicate.name == "m"
        assert names(duplicate.variables) == ["v"]
        assert duplicate.variables[0] is not module.variables[0]


def is_found(value):
    return isinstance(value, (tf.Variable, tf.Module))


class TestFlatten:
    def test_is_lazy(self):
        assert inspect.isgenerator(tf.Module()._flatten())

    def test_all_values(self):
        module = Holder("m", number=3, text="t", nothing=None, items=[4.5, {"k": b"b"}])
        found = list(module._flatten())
        for value in ("m", 3, "t", None, 4.5, b"b"):
            assert value in found

    def test_not_recursive(self):
        module = Holder(v=variable("v"), s=[Holder("s", w=variable("w"))])
        assert names(module._flatten(predicate=is_found)) == ["s", "v", "w"]
        assert names(module._flatten(recursive=False, predicate=is_found)) == ["s", "v"]

    def test_attribute_order(self):
        module = Holder(a=variable("a"), b=variable("b"))
        reverse = {"b": 0, "a": 1}
        found = module._flatten(
            predicate=is_found, attribute_traversal_key=lambda name: reverse.get(name, 2)
        )
        assert names(found) == ["b", "a"]

    def test_paths(self):
        v = variable("v")
        inner = Holder("inner", b=(v,))
        module = Holder("m", a=[v, {"k": variable("k")}], c=inner, d=inner)
        found = module._flatten(predicate=is_found, with_path=True)
        assert [(path, value.name) for path, value in found] == [
            (("a", 0), "v:0"),
            (("a", 1, "k"), "k:0"),
            (("c",), "inner"),
            (("d",), "inner"),
            (("c", "b", 0), "v:0"),
            (("d", "b", 0), "v:0"),
        ]

    def test_paths_end_at_cycles(self):
        module = Holder("m", v=variable("v"))
        module.child = Holder("child", parent=module)
        paths = [path for path, _ in module._flatten(predicate=is_found, with_path=True)]
        assert paths[:3] == [("child",), ("v",), ("child", "parent")]
        assert len(paths) < 10

    def test_composites_can_be_opened(self):
        slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
        module = Holder(i=slices)
        kinds = (tf.Tensor, tf.IndexedSlices)

        def is_value(value):
            return isinstance(value, kinds)

        assert list(module._flatten(predicate=is_value)) == [slices]
        opened = list(module._flatten(predicate=is_value, expand_composites=True))
        assert len(opened) == 2
        assert opened[0] is slices.values
        assert opened[1] is slices.indices
