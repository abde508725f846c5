// particles: an array of structs with device methods; the box comes by value, the field of wind
// by pointer.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

struct Vec3 {
    float x, y, z;
    __host__ __device__ Vec3 operator+(const Vec3 &o) const { return {x + o.x, y + o.y, z + o.z}; }
    __host__ __device__ Vec3 operator*(float s) const { return {x * s, y * s, z * s}; }
    __host__ __device__ float dot(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
};

struct Box {
    Vec3 low, high;
    float bounce;
};

struct Wind {
    Vec3 direction;
    float gusts[4];
};

// Reflects one coordinate at the walls. Returns whether it touched one.
__host__ __device__ inline bool reflect(float &position, float &velocity, float low, float high,
                                        float bounce) {
    if (position < low) {
        position = low;
    } else if (position > high) {
        position = high;
    } else {
        return false;
    }
    velocity = -velocity * bounce;
    return true;
}

struct Particle {
    Vec3 position, velocity;
    float mass;
    short kind;
    unsigned char hits;

    __host__ __device__ void push(const Vec3 &force, float dt) {
        velocity = velocity + force * (dt / mass);
        position = position + velocity * dt;
    }

    __host__ __device__ void keep_inside(const Box &box) {
        int touched = reflect(position.x, velocity.x, box.low.x, box.high.x, box.bounce);
        touched += reflect(position.y, velocity.y, box.low.y, box.high.y, box.bounce);
        touched += reflect(position.z, velocity.z, box.low.z, box.high.z, box.bounce);
        hits = (unsigned char)(hits + touched);
    }

    __host__ __device__ float energy() const { return 0.5f * mass * velocity.dot(velocity); }
};

__host__ __device__ inline Vec3 force_on(const Particle &p, const Wind *wind) {
    Vec3 force = wind->direction * wind->gusts[p.kind];
    force.y -= 9.81f * p.mass;
    return force;
}

__global__ void advance(Particle *particles, int n, Box box, const Wind *wind, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle *p = &particles[i];
    p->push(force_on(*p, wind), dt);
    p->keep_inside(box);
}

__global__ void measure(const Particle *particles, int n, float *energies, unsigned int *hits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle copy = particles[i];
    energies[i] = copy.energy();
    atomicAdd(hits, (unsigned int)copy.hits);
}

static Particle make_particle(int i) {
    Particle p;
    p.position = {0.01f * (float)(i % 97), 0.5f + 0.004f * (float)(i % 113), 0.6f};
    p.velocity = {0.1f * (float)(i % 19) - 0.9f, (float)(i % 6), 0.07f * (float)(i % 29) - 1.0f};
    p.mass = 1.0f + 0.25f * (float)(i % 5);
    p.kind = (short)(i % 4);
    p.hits = 0;
    return p;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1003;
    if (n < 1) {
        fprintf(stderr, "usage: %s [particle count, at least 1]\n", argv[0]);
        return 1;
    }
    const int steps = 25, block = 96, grid = (n + block - 1) / block;
    const float dt = 0.02f;
    const Box box = {{0.0f, 0.0f, 0.0f}, {1.0f, 1.0f, 1.0f}, 0.8f};
    const Wind wind = {{1.0f, 0.0f, 0.5f}, {0.0f, 0.4f, -0.3f, 1.2f}};

    std::vector<Particle> particles(n);
    for (int i = 0; i < n; i++) particles[i] = make_particle(i);

    Particle *d_particles;
    Wind *d_wind;
    float *d_energies;
    unsigned int *d_hits, hits;
    CUDA_CHECK(cudaMalloc(&d_particles, n * sizeof(Particle)));
    CUDA_CHECK(cudaMalloc(&d_wind, sizeof(Wind)));
    CUDA_CHECK(cudaMalloc(&d_energies, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_hits, sizeof(unsigned int)));
    CUDA_CHECK(cudaMemcpy(d_particles, particles.data(), n * sizeof(Particle),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_wind, &wind, sizeof(Wind), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_hits, 0, sizeof(unsigned int)));
    for (int step = 0; step < steps; step++) {
        advance<<<grid, block>>>(d_particles, n, box, d_wind, dt);
        CUDA_CHECK(cudaGetLastError());
    }
    measure<<<grid, block>>>(d_particles, n, d_energies, d_hits);
    CUDA_CHECK(cudaGetLastError());
    std::vector<float> energies(n);
    CUDA_CHECK(cudaMemcpy(energies.data(), d_energies, n * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&hits, d_hits, sizeof(unsigned int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_particles));
    CUDA_CHECK(cudaFree(d_wind));
    CUDA_CHECK(cudaFree(d_energies));
    CUDA_CHECK(cudaFree(d_hits));

    int wrong = 0;
    unsigned int want_hits = 0;
    for (int i = 0; i < n; i++) {
        Particle p = make_particle(i);
        for (int step = 0; step < steps; step++) {
            p.push(force_on(p, &wind), dt);
            p.keep_inside(box);
        }
        if (!(fabsf(energies[i] - p.energy()) <= 1e-3f * (1.0f + p.energy()))) wrong++;
        want_hits += p.hits;
    }
    bool pass = wrong == 0 && hits == want_hits;
    printf("particles: %d particles, %d steps, %u hits (expected %u), %d energies wrong\n", n,
           steps, hits, want_hits, wrong);
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
