// Logarithm and exponential that give the same bits on every processor and compiler: only + - * /,
// and bit moves. libm's versions differ between processors (FMA variants) and C libraries.
#pragma once

namespace shiftpoint {

// Natural logarithm of x > 0 (normal numbers), relative error below 4e-16 away from 1 and absolute
// error below 4e-16 near 1. x <= 0: -infinity for 0, NaN below.
double det_log(double x);

// e^x, relative error below 4e-16 for |x| <= 700; 0 below -745, infinity above 709.8.
double det_exp(double x);

// base^exponent for base > 0; 0^e is 0 for e > 0, and base^0 is 1.
double det_pow(double base, double exponent);

}  // namespace shiftpoint
