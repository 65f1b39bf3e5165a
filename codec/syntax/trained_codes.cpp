// Trained Huffman tables: written by tests/rd/train_codes.py, not by hand.
// SPDX-License-Identifier: MIT
#include "codec/syntax/trained_codes.hpp"

#include <cstddef>
#include <string_view>

namespace zerorun {
namespace {

/// Of DC luma, DC chroma, AC luma, AC chroma: the length of each symbol's code, as a letter, a
/// being
/// 1. Symbols of equal length are in increasing order, so lengths define the table.
using Lengths = std::array<std::string_view, 4>;
using Bands = std::array<std::array<HuffmanSpec, 4>, kTrainedBands.size()>;

/// Symbol number i, in increasing order, of those that baseline JPEG has: 12 DC, or 162 AC.
constexpr std::uint8_t symbol_of(std::size_t i, bool is_dc) {
  if (is_dc || i == 0) return static_cast<std::uint8_t>(i);  // EOB is the first of AC
  if (i < 151) return static_cast<std::uint8_t>((i - 1) / 10 << 4 | ((i - 1) % 10 + 1));
  return static_cast<std::uint8_t>(0xF0 + i - 151);  // ZRL is the first of run 15
}

constexpr HuffmanSpec spec_of(std::string_view lengths) {
  HuffmanSpec spec;
  std::size_t next = 0;
  for (std::size_t length = 1; length <= kMaxCodeBits; ++length)
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (static_cast<std::size_t>(lengths[i] - 'a' + 1) != length) continue;
      ++spec.bits[length];
      spec.values[next++] = symbol_of(i, lengths.size() == 12);
    }
  return spec;
}

constexpr Bands bands_of(const std::array<Lengths, kTrainedBands.size()>& lengths) {
  Bands bands;
  for (std::size_t band = 0; band < bands.size(); ++band)
    for (std::size_t table = 0; table < 4; ++table)
      bands[band][table] = spec_of(lengths[band][table]);
  return bands;
}

constexpr Bands kExact420 = bands_of(
    {{{"bbbcdefgjiii", "abcdefgkjiii",
       "cbccegiopppcefikmppppegiknpppppehjkloppppfiknppppppfiknppppppgjmpppppppgjlppppppp"
       "gkmppppppphjmppppppphmppppppppimppppppppinppppppppipppppppppjpppppppppklppppppppp",
       "abdfimpppppdfhkopppppeinpppppppeiopppppppglppppppppgmppppppppioppppppppkppppppppp"
       "mpppppppppnpppppppppppppppppppopppppppppppppppppppppppppppppppppppppppppppppppppp"},
      {"ccbcccdefgih", "bbbcdefgjiii",
       "dbbcdfgjmppdeghjlnpppegjlnoppppfhklnnppppfilnppppppgjlnppppppgkmppppppphklnpppppp"
       "hlnppppppphkmpppppppimppppppppilnpppppppjnppppppppjmppppppppkpppppppppkmppppppppp",
       "bbcdfhlppppcegiknppppegjoppppppegjpppppppfjnpppppppfjpppppppphnppppppppippppppppp"
       "jpppppppppjpppppppppjpppppppppkppppppppplpppppppppkppppppppplpppppppppknppppppppp"},
      {"ddccbccdefgh", "cbbccdefgjih",
       "dbbcdefhjnpdeghjlnpppehjlnpppppfilnopppppgjmoppppppgknopppppphknppppppphlnopppppp"
       "ilopppppppilooppppppimopppppppjmopppppppknppppppppkmoppppppplppppppppplmppppppppp",
       "bbcdegimpppcegiknopppehjmppppppfhkmppppppfjnpppppppgjnppppppphmpppppppphnpppppppp"
       "ipppppppppinppppppppioppppppppioppppppppjpppppppppjpppppppppjpppppppppilppppppppp"},
      {"eddccccccdfg", "dccbcccefghi",
       "ebcccddfgjmdeghjkloppegjlnoppppfilnppppppgjmppppppphknppppppphlopppppppimpppppppp"
       "imppppppppinppppppppjoppppppppkpppppppppkpppppppppkopppppppplpppppppppkmppppppppp",
       "cbccdegilppdegikmopppdgjmppppppeilnppppppfjnpppppppgknpppppppglpppppppphmpppppppp"
       "hnpppppppphmpppppppphnppppppppinppppppppioppppppppioppppppppjppppppppphkppppppppp"}}});
constexpr Bands kExact444 = bands_of(
    {{{"bbbcdefgjiii", "abcdefgkjiii",
       "cbccegiopppcefikmppppegiknpppppehjkloppppfiknppppppfiknppppppgjmpppppppgjlppppppp"
       "gkmppppppphjmppppppphmppppppppimppppppppinppppppppipppppppppjpppppppppklppppppppp",
       "abdgjnpppppcgilppppppfjopppppppfkoppppppphmpppppppphoppppppppkppppppppplppppppppp"
       "opppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"},
      {"ccbbcdefghji", "bbbcdefgjiii",
       "dbbcdfgjmppdeghjlnpppegjlnoppppfhklnnppppfilnppppppgjlnppppppgkmppppppphklnpppppp"
       "hlnppppppphkmpppppppimppppppppilnpppppppjnppppppppjmppppppppkpppppppppkmppppppppp",
       "abdegjnppppdfhjnpppppeimpppppppfjmpppppppglppppppppimppppppppjpppppppppkppppppppp"
       "lpppppppppmpppppppppmpppppppppnpppppppppnpppppppppopppppppppppppppppppopppppppppp"},
      {"eccbcccdfghi", "bbbcdefghkji",
       "dbbcdefhjnpdeghjlnpppehjlnpppppfilmopppppgjmoppppppgknopppppphknppppppphlnopppppp"
       "imopppppppilnoppppppimopppppppjmopppppppknppppppppkmnppppppplppppppppplmppppppppp",
       "bbcdegjnpppcegikoppppehknppppppeiknppppppfkopppppppglpppppppphoppppppppippppppppp"
       "jpppppppppjpppppppppkpppppppppkpppppppppkppppppppplppppppppplpppppppppkoppppppppp"},
      {"fddccbccdegh", "cccbccdefghi",
       "ebcccddfgjmdeghjkloppegjlnoppppfilnppppppgjmppppppphknppppppphlopppppppimpppppppp"
       "imppppppppinppppppppjoppppppppkpppppppppkpppppppppkopppppppplpppppppppkmppppppppp",
       "cbccdfgjmppcegikmopppehjmppppppeiloppppppfkopppppppgkoppppppphmpppppppphmpppppppp"
       "hnppppppppinppppppppioppppppppioppppppppjpppppppppjpppppppppjppppppppphkppppppppp"}}});
constexpr Bands kPhoto420 = bands_of(
    {{{"ccbcccdefihg", "bbbcdefgjiii",
       "cbbdegimpppdegikmppppegjmppppppegjlopppppfhlpppppppfhkpppppppgimpppppppginppppppp"
       "hjnppppppphjnppppppphkpppppppphkppppppppilppppppppilppppppppjnppppppppjkppppppppp",
       "abdfhlpppppdfhknpppppeilpppppppfimpppppppgkopppppppgkpppppppphlpppppppphnpppppppp"
       "inppppppppinppppppppjpppppppppkpppppppppkpppppppppkppppppppplpppppppppkmppppppppp"},
      {"dccbcccefgih", "bbbcdefghkji",
       "cbbdefgjnppdegijlnpppefilnpppppfgjlnpppppfhknppppppghknppppppgimpppppppgikopppppp"
       "hjmppppppphjlppppppphkopppppppikmpppppppilopppppppikopppppppjnppppppppjlppppppppp",
       "bbcdgimppppcehjloppppehkpppppppehkpppppppfinpppppppfimpppppppgkopppppppglpppppppp"
       "hmpppppppphlppppppppinppppppppioppppppppjoppppppppjoppppppppjpppppppppjlppppppppp"},
      {"eddcbcccdfgh", "ccbbcdefghji",
       "dbbcdfgikppdeghjlnpppegikmoppppfhjmnoppppgikmppppppgiknppppppgjmopppppphjlmpppppp"
       "hkmopppppphkloppppppiknpppppppikmoppppppjlopppppppjlmpppppppknppppppppjlppppppppp",
       "bbcdegjppppdegikmppppegknppppppehknppppppfimpppppppfhlpppppppfjopppppppgjpppppppp"
       "gkpppppppphkoppppppphlpppppppphmppppppppinppppppppinppppppppjoppppppppikppppppppp"},
      {"feedccbccdeg", "dcccbccefghi",
       "ecbccdeghkndefhikmoppefikmoppppfhjmopppppfilnppppppgjmopppppphjmopppppphkmooppppp"
       "hknpppppppilnoppppppimopppppppjmnpppppppjnppppppppjnooppppppkpppppppppjlppppppppp",
       "cbbdefhjmppdegikmppppegjmppppppehknppppppfiloppppppfilnppppppgjnpppppppgjnppppppp"
       "gkpppppppphknppppppphlppppppppimppppppppinppppppppjmppppppppjpppppppppikppppppppp"}}});
constexpr Bands kPhoto444 = bands_of(
    {{{"cbbccdefgjih", "abcdefgkjiii",
       "cbbdegimpppdegikmppppegilopppppegjlopppppfhkoppppppfhkoppppppgimpppppppgilppppppp"
       "hjmppppppphjmppppppphkppppppppikopppppppilppppppppikppppppppjnppppppppjkppppppppp",
       "abdhkppppppcfimppppppfkppppppppgkpppppppphmpppppppphpppppppppipppppppppjppppppppp"
       "jpppppppppjppppppppplppppppppplpppppppppmpppppppppmpppppppppmpppppppppmmppppppppp"},
      {"eccbcccdfghi", "abcdefghkjjj",
       "dbbcefhjpppdeghjmnpppefilnpppppfgjlmpppppfhknppppppghknppppppgimpppppppgiknpppppp"
       "hjmopppppphjlppppppphknppppppphkmpppppppilopppppppiknpppppppjnppppppppjlppppppppp",
       "abegiopppppcfhlppppppfinpppppppfiopppppppglppppppppglpppppppphmppppppppiopppppppp"
       "ipppppppppjpppppppppkpppppppppkppppppppplppppppppplpppppppppmppppppppplnppppppppp"},
      {"eddccbccdfgh", "bbbcdefghkji",
       "dbbcdfgilppdefhjlnpppegiknoppppfhjmooppppgilnppppppgjlnpppppphjmopppppphjlmoppppp"
       "hkmoppppppikloppppppiknpppppppikmoppppppjmnpppppppjlmoppppppkoppppppppjlppppppppp",
       "abdegjnppppdfhjnpppppfimpppppppfjmpppppppgkppppppppgkpppppppphmppppppppinpppppppp"
       "jnppppppppjpppppppppjoppppppppkpppppppppkpppppppppkppppppppplpppppppppkmppppppppp"},
      {"geddcbcccdfh", "ccbbcdefghij",
       "ebbcdefgikndefhikmoppegikmoppppfhjmopppppgilnopppppgjmnpppppphjmopppppphknooppppp"
       "hlnpppppppilnoppppppimopppppppimnoppppppjnppppppppjnooppppppkpppppppppikppppppppp",
       "bbcdfgimpppcegiknppppehknppppppfhloppppppfjnpppppppfjnpppppppgkoppppppphkoppppppp"
       "hlpppppppphlppppppppimppppppppinppppppppjoppppppppjoppppppppkpppppppppilppppppppp"}}});
constexpr Bands kText420 = bands_of(
    {{{"addccdefgjih", "abcdefgkjiii",
       "ccbcdfhlpppddfhjkppppefilnpppppfgjkloppppfhkpppppppghloppppppgimppppppphilppppppp"
       "hjmppppppphjnppppppphkopppppppiknpppppppikopppppppilppppppppknppppppppklppppppppp",
       "acdglppppppcehpppppppehopppppppeippppppppfjnpppppppfkppppppppflpppppppphlpppppppp"
       "hmpppppppphlpppppppphlppppppppioppppppppipppppppppjpppppppppjpppppppppijppppppppp"},
      {"aedddcddfgih", "abcdefghkjjj",
       "ccbcdefhmppddfgikmpppffiknpppppfgjllmppppghknppppppgilopppppphimppppppphjknpppppp"
       "hjnpppppppijmpppppppikopppppppikmpppppppjmnpppppppjlnpppppppkpppppppppkmppppppppp",
       "bbceimpppppcegkppppppdgkpppppppehmpppppppfjmpppppppfjnpppppppgkppppppppglpppppppp"
       "hlpppppppphloppppppphlppppppppinppppppppinppppppppjpppppppppkpppppppppjkppppppppp"},
      {"afedddcddghi", "acccdefghkji",
       "dcbccdfgippdefghjloppffhjmnppppfgikmmnpppgiknpppppphilopppppphjmppppppphjllnppppp"
       "iknoppppppikmpppppppilopppppppjlmmppppppjnppppppppkmmopppppplpppppppppkmppppppppp",
       "bbcdfjnppppcegimpppppegjpppppppfhkpppppppfimpppppppfinpppppppgkppppppppglpppppppp"
       "hlpppppppphlppppppppimppppppppinppppppppjoppppppppjoppppppppkpppppppppjlppppppppp"},
      {"agfeedddcdeh", "addccdefghji",
       "dcccccdefhleeefgijlnpfghjlnopppfhjlmnnnopgilnpppppphjmnppppppiknoppppppilnnmnpppp"
       "ilopppppppjmpnppppppjnppppppppknnnmoppppkpppppppppkppnoppppplpppppppppklppppppppp",
       "cbbcegilpppdeghknppppegilopppppfhknppppppgimpppppppgjmppppppphkoppppppphloppppppp"
       "ilppppppppimppppppppinppppppppjoppppppppjpppppppppjoppppppppkpppppppppikppppppppp"}}});
constexpr Bands kText444 = bands_of(
    {{{"addccdefgjih", "abcdefgkjiii",
       "ccbcdfgkpppddfhjkppppefhknpppppfgjklmppppghkoppppppghkoppppppgimppppppphiknpppppp"
       "hjmppppppphjmppppppphkopppppppijmpppppppikopppppppikppppppppkoppppppppklppppppppp",
       "abdipppppppdfjoppppppeippppppppeiopppppppfjmpppppppglpppppppphmppppppppippppppppp"
       "hmppppppppkpppppppppjpppppppppkpppppppppkpppppppppmppppppppplppppppppplmppppppppp"},
      {"aeddcdddfgih", "abcdefghkjjj",
       "dcbcdefhmppddegiklpppefhjmpppppfgikklopppfhjmppppppghknopppppgilpppppppgijloppppp"
       "hjmopppppphjlppppppphknpppppppijlnppppppilnpppppppjkmpppppppkoppppppppjlppppppppp",
       "accgmppppppcfioppppppehmpppppppfhlpppppppfkmpppppppgkpppppppphmppppppppinpppppppp"
       "hlppppppppjpppppppppioppppppppjpppppppppjpppppppppkppppppppplpppppppppimppppppppp"},
      {"agedddcddfhi", "abcdefghikkk",
       "dcbccdegjppdefghjloppffhkmnppppghjknmnpppgilopppppphjlopppppphjmppppppphjllmppppp"
       "iknoppppppilmoppppppilnpppppppjlmmopppppjnppppppppknmnpppppplpppppppppkmppppppppp",
       "acceglpppppdehjopppppehkoppppppfhjnppppppgjmpppppppgjoppppppphlpppppppphlpppppppp"
       "gkopppppppimpppppppphmppppppppilpppppppphnppppppppjpppppppppiopppppppphkppppppppp"},
      {"ahfedddcddgi", "accdddefghij",
       "dcccccdeghldeffghjlnpfgijlnppppghjlmnnnppgjlnpppppphjmnoppppphknoppppppilnnmnpppp"
       "jmppppppppjnpnppppppjnppppppppkonnmoppppkppppppppplpponppppplpppppppppjlppppppppp",
       "bbcdefinpppdefhjmppppegilopppppehjkmnppppfiloppppppfiloppppppgknppppppphknppppppp"
       "hjloppppppiloppppppphlopppppppikmnppppppilopppppppjmopppppppjmppppppppikppppppppp"}}});
constexpr Bands kPsnr420 = bands_of(
    {{{"bbbcdefjihhh", "abcdefjiiihh",
       "bbcegkpppppdegknpppppdfjoppppppegjmppppppfhlpppppppfhlpppppppfimpppppppgimppppppp"
       "ginpppppppginppppppphjpppppppphjpppppppphkpppppppphkppppppppimpppppppphjppppppppp",
       "abehmppppppcfinppppppfinpppppppfjopppppppgjopppppppgkppppppppglpppppppphmpppppppp"
       "ioppppppppioppppppppjpppppppppkppppppppplppppppppplpppppppppmpppppppppkmppppppppp"},
      {"cbbccdefgjih", "abcdefgkjiii",
       "cbbdehkppppdefiloppppefilppppppfgjlnpppppfhknppppppfhknppppppgilpppppppgikopppppp"
       "himppppppphjlppppppphjnppppppphjmpppppppilnpppppppikmpppppppjmppppppppikppppppppp",
       "abdfimpppppdfhlopppppfhlpppppppfhlpppppppgjnpppppppginpppppppgjpppppppphkpppppppp"
       "hlppppppppilppppppppimppppppppinppppppppjnppppppppjnppppppppkoppppppppjlppppppppp"},
      {"cccbccdefgih", "bbbcdefgjiii",
       "dbbcdfhkpppdefhjmppppffhknpppppfgjlmpppppghkmppppppgikmpppppphilopppppphjlmoppppp"
       "hjmoppppppijlnppppppiknpppppppikmnppppppjlopppppppjlmnppppppjnppppppppikppppppppp",
       "bbcdfimppppdegiloppppegjnppppppegjnppppppfhlpppppppfhkoppppppfimpppppppgimppppppp"
       "gjppppppppgjnppppppphkpppppppphkpppppppphkpppppppphkppppppppimpppppppphkppppppppp"},
      {"edccbccddfgh", "ccbbcdefghij",
       "ecbccdegilpdefgikmpppefhkmoppppfgjmopppppghlnppppppgimopppppphjmppppppphknopppppp"
       "ikopppppppilooppppppjmppppppppjmopppppppjnppppppppknooppppppkoppppppppilppppppppp",
       "dbbcefhkmppdegikmopppefilnpppppfgjmopppppfhknppppppfiknppppppgimpppppppgjmppppppp"
       "hjnppppppphjnppppppphkopppppppikopppppppilppppppppilppppppppjnppppppppikopppppppp"}}});
constexpr Bands kPsnr444 = bands_of(
    {{{"abcdefgkjiii", "abcdefjiiihh",
       "bbcehkpppppdegjmpppppdfjnppppppegjlppppppfhlpppppppfhkpppppppfhmpppppppgilppppppp"
       "gimpppppppgimppppppphjnppppppphjnppppppphkoppppppphjppppppppilpppppppphjnpppppppp",
       "abeinppppppceipppppppfjppppppppfjppppppppgkppppppppgmppppppppioppppppppiopppppppp"
       "jpppppppppjpppppppppkppppppppplpppppppppmpppppppppnpppppppppnpppppppppmoppppppppp"},
      {"bbbcdefghkji", "abcdefgkjiii",
       "cbbdfhkppppddfiknppppefilopppppfgjlnpppppfhknppppppghkmppppppgilppppppphiknpppppp"
       "hjlopppppphjloppppppijmpppppppijlpppppppiknpppppppikmpppppppjmppppppppikopppppppp",
       "abdfjnpppppdfhlppppppeimpppppppfhmpppppppgjppppppppgjpppppppphkpppppppphlpppppppp"
       "imppppppppimppppppppjnppppppppkoppppppppkpppppppppkppppppppplpppppppppkmppppppppp"},
      {"ccbcccdefgih", "abcdefghkjjj",
       "dbbcdfhkpppdefhjmppppffhknpppppfgjlmpppppghkmppppppgikmpppppphilopppppphjlmoppppp"
       "hjmoppppppijlnppppppiknpppppppikmnppppppjlopppppppjlmnppppppjnppppppppikppppppppp",
       "bbcefimppppcegimpppppegjnppppppegjnppppppfhmpppppppfilpppppppgjnpppppppgjnppppppp"
       "gkpppppppphkopppppppilppppppppilppppppppimppppppppjmppppppppjnppppppppjkppppppppp"},
      {"ddccbccdefgh", "cbbccdefghij",
       "ecbccdegilpdefgikmpppefhkmoppppfgjmopppppghlnppppppgimopppppphjmppppppphknopppppp"
       "ikopppppppilooppppppjmppppppppjmopppppppjnppppppppknooppppppkoppppppppilppppppppp",
       "cbbdegiknppdegikmppppefilopppppehkmppppppfhloppppppfiloppppppgimpppppppgjnppppppp"
       "hkoppppppphknppppppphlppppppppilppppppppimppppppppjmppppppppjmpppppppphkopppppppp"}}});

constexpr const Bands* kAll[][2] = {{&kExact420, &kExact444},
                                    {&kPhoto420, &kPhoto444},
                                    {&kText420, &kText444},
                                    {&kPsnr420, &kPsnr444}};

}  // namespace

const std::array<HuffmanSpec, 4>& trained_huffman_specs(Tune tune, bool is_420,
                                                        int quality_16ths) noexcept {
  std::size_t band = 0;
  while (band + 1 < kTrainedBands.size() && quality_16ths > 16 * kTrainedBands[band]) ++band;
  return (*kAll[static_cast<std::size_t>(tune)][is_420 ? 0 : 1])[band];
}

}  // namespace zerorun
