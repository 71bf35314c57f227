"""Public functions that stand in no expression, and why: by reason, their names."""

_FUNCTIONS = {
    "its numbers depend on how many threads TensorFlow has": "random.categorical",
    "its state is shared by the whole process": """
        data.experimental.enable_debug_mode
        debugging.disable_check_numerics debugging.disable_traceback_filtering
        debugging.enable_check_numerics debugging.enable_traceback_filtering
        debugging.get_log_device_placement debugging.is_traceback_filtering_enabled
        debugging.set_log_device_placement get_logger no_gradient random.get_global_generator
        random.set_global_generator register_tensor_conversion_function""",
    "it is a context, or decorates: there is no value to compare": """
        autograph.experimental.do_not_convert autograph.experimental.set_loop_options
        control_dependencies device function init_scope variable_creator_scope""",
    "it changes how other functions are called": """
        experimental.dispatch_for_api experimental.dispatch_for_binary_elementwise_apis
        experimental.dispatch_for_binary_elementwise_assert_apis
        experimental.dispatch_for_unary_elementwise_apis experimental.unregister_dispatch_for""",
    "it takes what a class statement or a compiler of messages makes": """
        experimental.extension_type.as_dict io.decode_proto""",
    "it prints, or writes a log": "autograph.set_verbosity autograph.trace print",
    "it reads the clock": "timestamp",
    "it reads the source, or the program's arguments": "autograph.to_code test.main",
    "it gives the function it was given": "autograph.to_graph",
    "it reads and writes files": """
        io.gfile.copy io.gfile.exists io.gfile.get_registered_schemes io.gfile.glob io.gfile.isdir
        io.gfile.listdir io.gfile.makedirs io.gfile.mkdir io.gfile.remove io.gfile.rename
        io.gfile.rmtree io.gfile.stat io.gfile.walk io.matching_files io.read_file io.write_file
        profiler.experimental.start profiler.experimental.stop""",
    "its pictures are files, which no function writes": """
        io.decode_bmp io.decode_gif io.decode_webp""",
    "it tells of the machine": """
        sysconfig.get_build_info test.gpu_device_name test.is_gpu_available""",
    "TensorFlow has it for other processors only": """
        approx_top_k conv2d_backprop_filter_v2 conv2d_backprop_input_v2 fftnd ifftnd irfftnd rfftnd
        nn.approx_min_k signal.fftnd signal.ifftnd signal.irfftnd signal.rfftnd""",
    "TensorFlow refuses it outside of graphs": "gradients hessians parallel_stack",
    "TensorFlow's takes linear operators, which gradtape does not have": """
        linalg.experimental.conjugate_gradient""",
}

UNEXPRESSED = {name: reason for reason, names in _FUNCTIONS.items() for name in names.split()}

# Namespaces whose functions set and tell how TensorFlow runs.
SETTINGS = ("config.",)
