package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSubscriptionsAreReadWhole(t *testing.T) {
	const erp, shop = "name: erp\nwebhook: {url: \"https://erp.example/\", secrets: [erp]}\n", "name: shop\nwebhook: {url: \"https://shop.example/\", secrets: [shop]}\n"
	for name, text := range map[string]string{
		"one after the other":          erp + "---\n" + shop,
		"an empty document between":    erp + "---\n---\n" + shop,
		"a comment alone between":      erp + "---\n# the shop's\n---\n" + shop,
		"an empty one at either end":   "---\n---\n" + erp + "---\n" + shop + "---\n",
		"ends of documents, and a BOM": "\ufeff" + erp + "...\n---\n" + shop + "...\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "subscriptions.yaml")
			writeText(t, file, []byte(text))
			specs, err := (&app{}).readSubscriptions(file)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range specs {
				got = append(got, s.Name)
			}
			if diff := cmp.Diff("erp shop", strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("what is wrong is told with its line of the file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "subscriptions.yaml")
		writeText(t, file, []byte(erp+"---\n---\n"+strings.Replace(shop, "name", "nmae", 1)))
		if _, err := (&app{}).readSubscriptions(file); err == nil || !strings.Contains(err.Error(), "[5:1] unknown field \"nmae\"") {
			t.Errorf("got %v", err)
		}
	})
}
