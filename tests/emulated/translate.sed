# CUDA C++ to C++ (emulated_device.h): launches, shared memory, and the one instruction outside ptx.cuh.
# kernel<<<grid, block, bytes, stream>>>(args) becomes emulated_launch("kernel", kernel, grid, ..)(args).
s/([A-Za-z_0-9]+(<[A-Za-z_0-9, ]*>)?)<<<(.*)>>>\(/emulated_launch("\1", \1, \3)(/
# extern __shared__ T x[]: all of the block's dynamic shared memory.
s/extern __shared__ __align__\(([0-9]+)\) ([A-Za-z_0-9 ]+) ([A-Za-z_0-9]+)\[\];/\2 *\3 = (\2 *)emulated_dynamic(\1);/
s/extern __shared__ ([A-Za-z_0-9 ]+) ([A-Za-z_0-9]+)\[\];/\1 *\2 = (\1 *)emulated_dynamic(16);/
# __shared__ T x[N]: a reference to the block's copy; one name a line.
s/__shared__ (__align__\([0-9]+\) )?(.+) ([A-Za-z_0-9]+)((\[[^]]*\])*);/static char key_\3; typedef \2 type_\3\4; type_\3 \&\3 = *(type_\3 *)emulated_static(\&key_\3, sizeof(type_\3));/
s/asm volatile\("trap;"\);/emulated_trap();/
s/cudaLaunchKernelEx\(/emulated_launch_with(backend_op_name(op), /
s@"kernels/cuda/device/(ptx|wgmma).cuh"@"tests/emulated/emulated_ptx.h"@
