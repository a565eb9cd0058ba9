"""The operator that the captured profiles of operators written in Python are about."""

from __future__ import annotations

__all__ = ["DEFINITION", "PROGRAMS", "profiled"]

#: An operator that adds one, in 500 by 500 numbers; `mx` is the runtime.
DEFINITION = """
class AddOne(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] + 1)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0])

@mx.operator.register("MyAddOne")
class AddOneProp(mx.operator.CustomOpProp):
    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        return AddOne()

x = mx.nd.zeros((500, 500))
mx.nd.waitall()
"""

#: What was profiled, by the beginning of the names of the captured files.
PROGRAMS = {
    "custom_imp": 'w = mx.nd.Custom(x, op_type="MyAddOne")\n',
    "custom_grad": (
        "x.attach_grad()\n"
        "with mx.autograd.record():\n"
        '    w = mx.nd.Custom(x, op_type="MyAddOne")\n'
        "w.backward()\n"
    ),
    "custom_sym": (
        'symbol = mx.symbol.Custom(data=mx.symbol.Variable("a"), op_type="MyAddOne")\n'
        'bound = symbol.bind(mx.cpu(), {"a": x})\n'
        "w = bound.forward()\n"
    ),
}


def profiled(program: str, file: str, **flags: bool) -> str:
    """Return a program with what it needs, profiled to a file, that prints the statistics."""
    told = "".join(f", {name}={value}" for name, value in (flags or {"profile_all": True}).items())
    return (
        f"{DEFINITION}"
        f"mx.profiler.set_config(filename={file!r}, aggregate_stats=True{told})\n"
        'mx.profiler.set_state("run")\n'
        f"{program}"
        "mx.nd.waitall()\n"
        'mx.profiler.set_state("stop")\n'
        "print(mx.profiler.dumps())\n"
        "mx.profiler.dump()\n"
    )
