/* Device functions by name and type, for libclang: `tmigrate.converters.cuda.intrinsics` knows each.
 *
 * Declarations only.  A name that is declared here and missing in that table is refused where it is called.
 */
#ifndef TM_FRONTEND_DEVICE_H
#define TM_FRONTEND_DEVICE_H

#define TM_BOTH __host__ __device__
#define TM_F1(name) TM_BOTH float name##f(float); TM_BOTH double name(double);
#define TM_F2(name) TM_BOTH float name##f(float, float); TM_BOTH double name(double, double);
#define TM_F3(name) TM_BOTH float name##f(float, float, float); TM_BOTH double name(double, double, double);

/* ---- mathematics that C's math.h lacks ---- */
TM_F1(rsqrt) TM_F1(rcbrt) TM_F1(sinpi) TM_F1(cospi) TM_F1(erfinv) TM_F1(erfcinv) TM_F1(erfcx)
TM_F1(normcdf) TM_F1(normcdfinv) TM_F2(rhypot) TM_F3(norm3d)
TM_BOTH float rsqrt(float); TM_BOTH float rcbrt(float); TM_BOTH float sinpi(float); TM_BOTH float cospi(float);
TM_BOTH float erfinv(float); TM_BOTH float erfcinv(float); TM_BOTH float erfcx(float);
TM_BOTH float normcdf(float); TM_BOTH float normcdfinv(float); TM_BOTH float rhypot(float, float);
TM_BOTH void sincospi(double, double *, double *); TM_BOTH void sincospif(float, float *, float *);
TM_BOTH void sincos(float, float *, float *);
TM_BOTH float fdividef(float, float);
TM_BOTH float __expf(float); TM_BOTH float __exp10f(float); TM_BOTH float __logf(float); TM_BOTH float __log2f(float);
TM_BOTH float __log10f(float); TM_BOTH float __sinf(float); TM_BOTH float __cosf(float); TM_BOTH float __tanf(float);
TM_BOTH float __powf(float, float); TM_BOTH float __fdividef(float, float); TM_BOTH float __saturatef(float);
TM_BOTH void __sincosf(float, float *, float *);
TM_BOTH float __fadd_rn(float, float); TM_BOTH float __fsub_rn(float, float); TM_BOTH float __fmul_rn(float, float);
TM_BOTH float __fdiv_rn(float, float); TM_BOTH float __fmaf_rn(float, float, float); TM_BOTH float __frcp_rn(float);
TM_BOTH float __fsqrt_rn(float); TM_BOTH float __frsqrt_rn(float);
TM_BOTH double __dadd_rn(double, double); TM_BOTH double __dsub_rn(double, double);
TM_BOTH double __dmul_rn(double, double); TM_BOTH double __ddiv_rn(double, double);
TM_BOTH double __fma_rn(double, double, double); TM_BOTH double __drcp_rn(double); TM_BOTH double __dsqrt_rn(double);

/* ---- integers ---- */
TM_BOTH int min(int, int); TM_BOTH unsigned int min(unsigned int, unsigned int);
TM_BOTH unsigned int min(int, unsigned int); TM_BOTH unsigned int min(unsigned int, int);
TM_BOTH long min(long, long); TM_BOTH unsigned long min(unsigned long, unsigned long);
TM_BOTH unsigned long min(long, unsigned long); TM_BOTH unsigned long min(unsigned long, long);
TM_BOTH long long min(long long, long long); TM_BOTH unsigned long long min(unsigned long long, unsigned long long);
TM_BOTH unsigned long long min(long long, unsigned long long);
TM_BOTH unsigned long long min(unsigned long long, long long);
TM_BOTH float min(float, float); TM_BOTH double min(double, double); TM_BOTH double min(float, double);
TM_BOTH double min(double, float);
TM_BOTH int max(int, int); TM_BOTH unsigned int max(unsigned int, unsigned int);
TM_BOTH unsigned int max(int, unsigned int); TM_BOTH unsigned int max(unsigned int, int);
TM_BOTH long max(long, long); TM_BOTH unsigned long max(unsigned long, unsigned long);
TM_BOTH unsigned long max(long, unsigned long); TM_BOTH unsigned long max(unsigned long, long);
TM_BOTH long long max(long long, long long); TM_BOTH unsigned long long max(unsigned long long, unsigned long long);
TM_BOTH unsigned long long max(long long, unsigned long long);
TM_BOTH unsigned long long max(unsigned long long, long long);
TM_BOTH float max(float, float); TM_BOTH double max(double, double); TM_BOTH double max(float, double);
TM_BOTH double max(double, float);
TM_BOTH unsigned int umin(unsigned int, unsigned int); TM_BOTH unsigned int umax(unsigned int, unsigned int);
TM_BOTH long long llmin(long long, long long); TM_BOTH long long llmax(long long, long long);
TM_BOTH unsigned long long ullmin(unsigned long long, unsigned long long);
TM_BOTH unsigned long long ullmax(unsigned long long, unsigned long long);
TM_BOTH int __popc(unsigned int); TM_BOTH int __popcll(unsigned long long);
TM_BOTH int __clz(int); TM_BOTH int __clzll(long long); TM_BOTH int __ffs(int); TM_BOTH int __ffsll(long long);
TM_BOTH unsigned int __brev(unsigned int); TM_BOTH unsigned long long __brevll(unsigned long long);
TM_BOTH int __mulhi(int, int); TM_BOTH unsigned int __umulhi(unsigned int, unsigned int);
TM_BOTH long long __mul64hi(long long, long long);
TM_BOTH unsigned long long __umul64hi(unsigned long long, unsigned long long);
TM_BOTH int __mul24(int, int); TM_BOTH unsigned int __umul24(unsigned int, unsigned int);
TM_BOTH int mul24(int, int); TM_BOTH unsigned int umul24(unsigned int, unsigned int);
TM_BOTH int mulhi(int, int); TM_BOTH unsigned int umulhi(unsigned int, unsigned int);
TM_BOTH int __hadd(int, int); TM_BOTH int __rhadd(int, int); TM_BOTH unsigned int __uhadd(unsigned int, unsigned int);
TM_BOTH unsigned int __urhadd(unsigned int, unsigned int);
TM_BOTH unsigned int __sad(int, int, unsigned int);
TM_BOTH unsigned int __usad(unsigned int, unsigned int, unsigned int);
TM_BOTH unsigned int __byte_perm(unsigned int, unsigned int, unsigned int);
TM_BOTH unsigned int __funnelshift_l(unsigned int, unsigned int, unsigned int);
TM_BOTH unsigned int __funnelshift_r(unsigned int, unsigned int, unsigned int);
TM_BOTH unsigned int __funnelshift_lc(unsigned int, unsigned int, unsigned int);
TM_BOTH unsigned int __funnelshift_rc(unsigned int, unsigned int, unsigned int);
TM_BOTH int __dp4a(int, int, int); TM_BOTH unsigned int __dp4a(unsigned int, unsigned int, unsigned int);

/* ---- conversions ---- */
#define TM_ROUND(r)                                                                                           \
  TM_BOTH int __float2int_##r(float); TM_BOTH unsigned int __float2uint_##r(float);                           \
  TM_BOTH long long __float2ll_##r(float); TM_BOTH unsigned long long __float2ull_##r(float);                 \
  TM_BOTH int __double2int_##r(double); TM_BOTH unsigned int __double2uint_##r(double);                       \
  TM_BOTH long long __double2ll_##r(double); TM_BOTH unsigned long long __double2ull_##r(double);
TM_ROUND(rn) TM_ROUND(rd) TM_ROUND(ru) TM_ROUND(rz)
TM_BOTH float __int2float_rn(int); TM_BOTH float __uint2float_rn(unsigned int); TM_BOTH float __ll2float_rn(long long);
TM_BOTH float __ull2float_rn(unsigned long long); TM_BOTH double __int2double_rn(int);
TM_BOTH double __uint2double_rn(unsigned int); TM_BOTH double __ll2double_rn(long long);
TM_BOTH double __ull2double_rn(unsigned long long); TM_BOTH float __double2float_rn(double);
TM_BOTH int __float_as_int(float); TM_BOTH unsigned int __float_as_uint(float); TM_BOTH float __int_as_float(int);
TM_BOTH float __uint_as_float(unsigned int); TM_BOTH long long __double_as_longlong(double);
TM_BOTH double __longlong_as_double(long long); TM_BOTH int __double2loint(double); TM_BOTH int __double2hiint(double);
TM_BOTH double __hiloint2double(int, int);

/* ---- atomics ---- */
#define TM_ATOMIC(type, name)                                                                                 \
  __device__ type name(type *, type); __device__ type name##_block(type *, type);                             \
  __device__ type name##_system(type *, type);
TM_ATOMIC(int, atomicAdd) TM_ATOMIC(unsigned int, atomicAdd) TM_ATOMIC(unsigned long long, atomicAdd)
TM_ATOMIC(float, atomicAdd) TM_ATOMIC(double, atomicAdd)
TM_ATOMIC(int, atomicSub) TM_ATOMIC(unsigned int, atomicSub)
TM_ATOMIC(int, atomicExch) TM_ATOMIC(unsigned int, atomicExch) TM_ATOMIC(unsigned long long, atomicExch)
TM_ATOMIC(float, atomicExch)
TM_ATOMIC(int, atomicMin) TM_ATOMIC(unsigned int, atomicMin) TM_ATOMIC(unsigned long long, atomicMin)
TM_ATOMIC(long long, atomicMin)
TM_ATOMIC(int, atomicMax) TM_ATOMIC(unsigned int, atomicMax) TM_ATOMIC(unsigned long long, atomicMax)
TM_ATOMIC(long long, atomicMax)
TM_ATOMIC(int, atomicAnd) TM_ATOMIC(unsigned int, atomicAnd) TM_ATOMIC(unsigned long long, atomicAnd)
TM_ATOMIC(int, atomicOr) TM_ATOMIC(unsigned int, atomicOr) TM_ATOMIC(unsigned long long, atomicOr)
TM_ATOMIC(int, atomicXor) TM_ATOMIC(unsigned int, atomicXor) TM_ATOMIC(unsigned long long, atomicXor)
TM_ATOMIC(unsigned int, atomicInc) TM_ATOMIC(unsigned int, atomicDec)
#define TM_CAS(type)                                                                                          \
  __device__ type atomicCAS(type *, type, type); __device__ type atomicCAS_block(type *, type, type);         \
  __device__ type atomicCAS_system(type *, type, type);
TM_CAS(int) TM_CAS(unsigned int) TM_CAS(unsigned long long) TM_CAS(unsigned short)

/* ---- threads, lanes, memory order ---- */
__device__ void __syncthreads(); __device__ int __syncthreads_count(int); __device__ int __syncthreads_and(int);
__device__ int __syncthreads_or(int); __device__ void __syncwarp(unsigned int = 0xffffffffu);
__device__ void __threadfence(); __device__ void __threadfence_block(); __device__ void __threadfence_system();
#define TM_SHUFFLE(type)                                                                                      \
  __device__ type __shfl_sync(unsigned int, type, int, int = 32);                                             \
  __device__ type __shfl_up_sync(unsigned int, type, unsigned int, int = 32);                                 \
  __device__ type __shfl_down_sync(unsigned int, type, unsigned int, int = 32);                               \
  __device__ type __shfl_xor_sync(unsigned int, type, int, int = 32);
TM_SHUFFLE(int) TM_SHUFFLE(unsigned int) TM_SHUFFLE(long) TM_SHUFFLE(unsigned long) TM_SHUFFLE(long long)
TM_SHUFFLE(unsigned long long) TM_SHUFFLE(float) TM_SHUFFLE(double)
__device__ unsigned int __ballot_sync(unsigned int, int); __device__ int __any_sync(unsigned int, int);
__device__ int __all_sync(unsigned int, int); __device__ unsigned int __activemask();
__device__ void __trap(); __device__ void __brkpt(); __device__ void __nanosleep(unsigned int);
__device__ long long clock64(); __device__ int clock();
__device__ void __prof_trigger(int);

/* ---- loads and stores with a cache hint: the hint does not change a value ---- */
#define TM_LOAD(name) template <class T> __device__ T name(const T *);
TM_LOAD(__ldg) TM_LOAD(__ldcg) TM_LOAD(__ldca) TM_LOAD(__ldcs) TM_LOAD(__ldlu) TM_LOAD(__ldcv)
#define TM_STORE(name) template <class T> __device__ void name(T *, T);
TM_STORE(__stcg) TM_STORE(__stcs) TM_STORE(__stwb) TM_STORE(__stwt)
#endif
