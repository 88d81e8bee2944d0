package documents

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"

	pgxdecimal "github.com/jackc/pgx-shopspring-decimal"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Register makes decimals travel as numeric in binary on conn, and Numbers keep the
// scale of a zero. The pool's AfterConnect calls it.
func Register(conn *pgx.Conn) error {
	m := conn.TypeMap()
	pgxdecimal.Register(m)
	m.RegisterType(&pgtype.Type{Name: "numeric", OID: pgtype.NumericOID, Codec: numericCodec{}})
	return nil
}

// numericCodec reads a Number itself: pgtype's reads 0.00 as 0.
type numericCodec struct{ pgxdecimal.NumericCodec }

// PlanScan implements pgtype.Codec.
func (c numericCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*Number); ok && format == pgtype.BinaryFormatCode {
		return scanNumber{}
	}
	return c.NumericCodec.PlanScan(m, oid, format, target)
}

// scanNumber reads numeric as PostgreSQL sends it (numeric_send): how many digits to
// base 10,000 there are, the weight of the first, the sign, the decimal places, and the
// digits without zeros before and behind them.
type scanNumber struct{}

var errNumeric = errors.New("numeric is no amount")

// Scan implements pgtype.ScanPlan.
func (scanNumber) Scan(src []byte, target any) error {
	n := target.(*Number)
	*n = Number{}
	if src == nil {
		return nil
	}
	if len(src) < 8 {
		return errNumeric
	}
	count, weight := int(binary.BigEndian.Uint16(src)), int(int16(binary.BigEndian.Uint16(src[2:])))
	sign, scale := binary.BigEndian.Uint16(src[4:]), int(binary.BigEndian.Uint16(src[6:]))
	const negative, special = 0x4000, 0xC000
	if sign&special == special || scale > math.MaxUint8 || len(src) != 8+2*count || weight > math.MaxUint8 {
		return errNumeric
	}
	// The coefficient is the digits times a power of ten: of the places behind their end
	// up to the scale, or less zeros beyond it.
	power := scale + 4*(weight+1-count)
	if 4*count+max(power, 0) <= smallDigits {
		small := int64(0)
		for i := range count {
			small = small*10_000 + int64(binary.BigEndian.Uint16(src[8+2*i:]))
		}
		for ; power > 0 && count > 0; power-- {
			small *= 10
		}
		for ; power < 0; power++ {
			small /= 10
		}
		if sign == negative {
			small = -small
		}
		*n = Number{small: small, scale: uint8(scale), valid: true}
		return nil
	}
	coefficient, base := new(big.Int), big.NewInt(10_000)
	for i := range count {
		coefficient.Mul(coefficient, base).Add(coefficient, big.NewInt(int64(binary.BigEndian.Uint16(src[8+2*i:]))))
	}
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(power, -power))), nil)
	if power >= 0 {
		coefficient.Mul(coefficient, ten)
	} else {
		coefficient.Quo(coefficient, ten)
	}
	if sign == negative {
		coefficient.Neg(coefficient)
	}
	*n = numberOf(coefficient, uint8(scale))
	return nil
}
