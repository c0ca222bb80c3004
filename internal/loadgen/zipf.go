package loadgen

import "math"

// Zipf chooses among n keys so that the key of rank r, from 1, is asked for in
// proportion to r to the power of -exponent: what tenants and addresses do. It
// is immutable; make one with NewZipf.
//
// It draws by rejection-inversion (Hörmann and Derflinger, 1996), which needs no
// table and hardly ever a second number, whatever n is.
type Zipf struct {
	n          float64
	exponent   float64
	low, high  float64 // of the integral, from where numbers are drawn
	acceptance float64
}

// NewZipf returns the choice among n keys, 1 or more. The exponent is above 0;
// 1 is Zipf's own.
func NewZipf(n uint64, exponent float64) *Zipf {
	z := &Zipf{n: float64(max(n, 1)), exponent: exponent}
	z.low = z.integral(1.5) - 1
	z.high = z.integral(z.n + 0.5)
	z.acceptance = 2 - z.inverse(z.integral(2.5)-z.density(2))
	return z
}

// rank turns a number into a key, 0 for the one that is asked for most.
func (z *Zipf) rank(h uint64) uint64 {
	for {
		u := z.high + unit(h)*(z.low-z.high)
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.acceptance || u >= z.integral(k+0.5)-z.density(k) {
			return uint64(k) - 1
		}
		h = mix(h)
	}
}

func (z *Zipf) density(x float64) float64 { return math.Exp(-z.exponent * math.Log(x)) }

// integral is that of the density, from 1 to x.
func (z *Zipf) integral(x float64) float64 {
	log := math.Log(x)
	return expm1Over((1-z.exponent)*log) * log
}

func (z *Zipf) inverse(x float64) float64 {
	t := max(x*(1-z.exponent), -1) // rounding
	return math.Exp(log1pOver(t) * x)
}

// expm1Over is (e^x - 1) / x, and 1 at 0.
func expm1Over(x float64) float64 {
	if math.Abs(x) < 1e-8 {
		return 1 + x/2
	}
	return math.Expm1(x) / x
}

// log1pOver is log(1 + x) / x, and 1 at 0.
func log1pOver(x float64) float64 {
	if math.Abs(x) < 1e-8 {
		return 1 - x/2
	}
	return math.Log1p(x) / x
}

// unit makes a number of 0 to 1 of the 53 bits that a float has.
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }
