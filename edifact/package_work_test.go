package edifact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edigw/edigw/edi"
)

func TestPackagesAreReadOnce(t *testing.T) {
	for name, object := range map[string]string{"empty": "", "short": "'", "of a block": strings.Repeat("'+", 16<<10)} {
		t.Run("packages that are "+name, func(t *testing.T) {
			unit := fmt.Sprintf("UNO+1+a+b+%d'%sUNP+%[1]d+1'", len(object), object)
			text := unb4 + strings.Repeat(unit, max(300_000/len(unit), 4)) + "UNZ+1+REF'"
			for chunk, p := range map[int]*edi.Payload{0: edi.Bytes([]byte(text)), 4096: spooled(t, []byte(text))} {
				ic, err := Reader{}.Split(p, 0)
				if err != nil {
					t.Fatal(err)
				}
				s := Reader{chunk: chunk}.pass(p, ic, nil)
				if err := s.Read(0, s.segments, s.finish); err != nil {
					t.Fatal(err)
				}
				if most := 12 * int64(len(text)); s.Lex.Indexed > most {
					t.Errorf("%d bytes were looked at in a text of %d", s.Lex.Indexed, len(text))
				}
				s.End()
			}
		})
	}
}
