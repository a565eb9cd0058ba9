"""What NVIDIA's profilers write: Nsight Systems and nvprof databases and CSV, Nsight Compute CSV.

Each format is a module of its own behind the registry; importing this folder imports none.
"""
