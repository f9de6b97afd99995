/* See tensor_map.cuh. */
#include "kernels/cuda/device/tensor_map.cuh"

typedef CUresult (*encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                              const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                              CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill);

int tensor_map(struct device *d, CUtensorMap *map, const void *p, int rows, int columns, int stride,
               int tile_rows, int swizzle)
{
    static encode_fn encode; /* the same for every thread that looks it up */
    enum cudaDriverEntryPointQueryResult found;
    if (!encode) {
        void *f = NULL;
        cudaError_t e =
            cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found);
        if (e != cudaSuccess || !f)
            return cuda_error(d, BACKEND_ERR_UNSUPPORTED,
                              "the NVIDIA driver has no cuTensorMapEncodeTiled; update the driver");
        encode = (encode_fn)f;
    }
    cuuint64_t size[2] = {(cuuint64_t)columns, (cuuint64_t)rows}, pitch[1] = {(cuuint64_t)stride * 2};
    cuuint32_t box[2] = {TENSOR_TILE, (cuuint32_t)tile_rows}, step[2] = {1, 1};
    CUresult rc = encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)p, size, pitch, box, step,
                         CU_TENSOR_MAP_INTERLEAVE_NONE,
                         swizzle ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                         CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (rc != CUDA_SUCCESS)
        return cuda_error(d, BACKEND_ERR_DEVICE, "describing a matrix of %d x %d failed with CUDA error %d",
                          rows, columns, (int)rc);
    return 0;
}
