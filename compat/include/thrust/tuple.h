/* thrust::tuple is the standard tuple here. */
#ifndef TMIGRATE_THRUST_TUPLE_H
#define TMIGRATE_THRUST_TUPLE_H
#include <tuple>
namespace thrust {
using std::get;
using std::make_tuple;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
}  // namespace thrust
#endif
