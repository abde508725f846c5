// nbody: all-pairs gravity with float4 bodies, tiles of them staged in shared memory.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define BLOCK 64
#define SOFTENING 0.01f

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

// Adds to acceleration the pull of one body. position.w is the body's mass.
__device__ float3 add_pull(float3 acceleration, float4 position, float4 other) {
    float dx = other.x - position.x;
    float dy = other.y - position.y;
    float dz = other.z - position.z;
    float distance2 = dx * dx + dy * dy + dz * dz + SOFTENING;
    float inverse = rsqrtf(distance2);
    float strength = other.w * inverse * inverse * inverse;
    acceleration.x += dx * strength;
    acceleration.y += dy * strength;
    acceleration.z += dz * strength;
    return acceleration;
}

// velocities are advanced; bodies past the end weigh nothing.
__global__ void accelerate(const float4 *positions, float4 *velocities, int n, float dt) {
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = i < n ? positions[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float3 acceleration = make_float3(0.0f, 0.0f, 0.0f);

    for (int start = 0; start < n; start += BLOCK) {
        int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? positions[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
        for (int k = 0; k < BLOCK; k++) {
            acceleration = add_pull(acceleration, mine, tile[k]);
        }
        __syncthreads();
    }

    if (i < n) {
        velocities[i].x += acceleration.x * dt;
        velocities[i].y += acceleration.y * dt;
        velocities[i].z += acceleration.z * dt;
    }
}

__global__ void move(float4 *positions, const float4 *velocities, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 position = positions[i];
        float4 velocity = velocities[i];
        position.x += velocity.x * dt;
        position.y += velocity.y * dt;
        position.z += velocity.z * dt;
        positions[i] = position;
    }
}

static void step_host(std::vector<double> &p, std::vector<double> &v, int n, double dt) {
    for (int i = 0; i < n; i++) {
        double a[3] = {0.0, 0.0, 0.0};
        for (int j = 0; j < n; j++) {
            double d[3], distance2 = SOFTENING;
            for (int k = 0; k < 3; k++) {
                d[k] = p[4 * j + k] - p[4 * i + k];
                distance2 += d[k] * d[k];
            }
            double strength = p[4 * j + 3] / (distance2 * sqrt(distance2));
            for (int k = 0; k < 3; k++) a[k] += d[k] * strength;
        }
        for (int k = 0; k < 3; k++) v[4 * i + k] += a[k] * dt;
    }
    for (int i = 0; i < 4 * n; i++) {
        if (i % 4 != 3) p[i] += v[i] * dt;
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 203;
    if (n < 1 || n > 20000) {
        fprintf(stderr, "usage: %s [bodies between 1 and 20000]\n", argv[0]);
        return 1;
    }
    const int steps = 4;
    const float dt = 0.01f;

    std::vector<float4> positions(n), velocities(n);
    std::vector<double> p(4 * n), v(4 * n, 0.0);
    for (int i = 0; i < n; i++) {
        float angle = 0.37f * (float)i;
        positions[i] = make_float4(cosf(angle) * (1.0f + 0.01f * (float)(i % 31)), sinf(angle),
                                   0.02f * (float)(i % 53) - 0.5f, 0.5f + 0.1f * (float)(i % 7));
        velocities[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        p[4 * i] = positions[i].x;
        p[4 * i + 1] = positions[i].y;
        p[4 * i + 2] = positions[i].z;
        p[4 * i + 3] = positions[i].w;
    }

    float4 *d_positions, *d_velocities;
    const size_t bytes = n * sizeof(float4);
    CUDA_CHECK(cudaMalloc(&d_positions, bytes));
    CUDA_CHECK(cudaMalloc(&d_velocities, bytes));
    CUDA_CHECK(cudaMemcpy(d_positions, positions.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_velocities, velocities.data(), bytes, cudaMemcpyHostToDevice));
    for (int step = 0; step < steps; step++) {
        accelerate<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_positions, d_velocities, n, dt);
        CUDA_CHECK(cudaGetLastError());
        move<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_positions, d_velocities, n, dt);
        CUDA_CHECK(cudaGetLastError());
        step_host(p, v, n, dt);
    }
    CUDA_CHECK(cudaMemcpy(positions.data(), d_positions, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_positions));
    CUDA_CHECK(cudaFree(d_velocities));

    int wrong = 0;
    for (int i = 0; i < n; i++) {
        const float got[3] = {positions[i].x, positions[i].y, positions[i].z};
        for (int k = 0; k < 3; k++) {
            double want = p[4 * i + k];
            if (!(fabs(got[k] - want) <= 1e-3 * (1.0 + fabs(want)))) wrong++;
        }
    }
    printf("nbody: %d bodies, %d steps, %d coordinates wrong\n", n, steps, wrong);
    printf("%s\n", wrong == 0 ? "PASS" : "FAIL");
    return wrong == 0 ? 0 : 1;
}
