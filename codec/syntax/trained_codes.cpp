// Trained Huffman tables: written by tests/rd/train_codes.py, not by hand.
// SPDX-License-Identifier: MIT
#include "codec/syntax/tables.hpp"

#include <cstddef>
#include <string_view>

namespace zerorun {
namespace {

/// Of DC luma, DC chroma, AC luma, AC chroma: for spec_of_lengths().
using Lengths = std::array<std::string_view, 4>;
using Bands = std::array<std::array<HuffmanSpec, 4>, kTrainedBands.size()>;

constexpr Bands bands_of(const std::array<Lengths, kTrainedBands.size()>& lengths) {
  Bands bands;
  for (std::size_t band = 0; band < bands.size(); ++band)
    for (std::size_t table = 0; table < 4; ++table)
      bands[band][table] = spec_of_lengths(lengths[band][table]);
  return bands;
}

constexpr Bands kExact420 =
    bands_of({{{"bbbcdefgjiii", "abcdefgkjiii",
                "c,bccegio,cefikm,egikn,ehjklo,fikn,fikn,gjm,gjl,gkm,hjm,hm,im,in,i,j,kl",
                "a,bdfim,dfhko,ein,eio,gl,gm,io,k,m,n,,o,,,,"},
               {"ccbcccdefgih", "bbbcdefgjiii",
                "d,bbcdfgjm,deghjln,egjlno,fhklnn,filn,gjln,gkm,hkln,hln,hkm,im,iln,jn,jm,k,km",
                "b,bcdfhl,cegikn,egjo,egj,fjn,fj,hn,i,j,j,j,k,l,k,l,kn"},
               {"ddccbccdefgh", "cbbccdefgjih",
                "d,bbcdefhjn,deghjln,ehjln,filno,gjmo,gkno,hkn,hlno,ilo,iloo,imo,jmo,kn,kmo,l,lm",
                "b,bcdegim,cegikno,ehjm,fhkm,fjn,gjn,hm,hn,i,in,io,io,j,j,j,il"},
               {"eddccccccdfg", "dccbcccefghi",
                "e,bcccddfgjm,deghjklo,egjlno,filn,gjm,hkn,hlo,im,im,in,jo,k,k,ko,l,km",
                "c,bccdegil,degikmo,dgjm,eiln,fjn,gkn,gl,hm,hn,hm,hn,in,io,io,j,hk"}}});
constexpr Bands kExact444 =
    bands_of({{{"bbbcdefgjiii", "abcdefgkjiii",
                "c,bccegio,cefikm,egikn,ehjklo,fikn,fikn,gjm,gjl,gkm,hjm,hm,im,in,i,j,kl",
                "a,bdgjn,cgil,fjo,fko,hm,ho,k,l,o,,,,,,,"},
               {"ccbbcdefghji", "bbbcdefgjiii",
                "d,bbcdfgjm,deghjln,egjlno,fhklnn,filn,gjln,gkm,hkln,hln,hkm,im,iln,jn,jm,k,km",
                "a,bdegjn,dfhjn,eim,fjm,gl,im,j,k,l,m,m,n,n,o,,o"},
               {"eccbcccdfghi", "bbbcdefghkji",
                "d,bbcdefhjn,deghjln,ehjln,filmo,gjmo,gkno,hkn,hlno,imo,ilno,imo,jmo,kn,kmn,l,lm",
                "b,bcdegjn,cegiko,ehkn,eikn,fko,gl,ho,i,j,j,k,k,k,l,l,ko"},
               {"fddccbccdegh", "cccbccdefghi",
                "e,bcccddfgjm,deghjklo,egjlno,filn,gjm,hkn,hlo,im,im,in,jo,k,k,ko,l,km",
                "c,bccdfgjm,cegikmo,ehjm,eilo,fko,gko,hm,hm,hn,in,io,io,j,j,j,hk"}}});
constexpr Bands kPhoto420 = bands_of(
    {{{"ccbcccdefihg", "bbbcdefgjiii",
       "c,bbdegim,degikm,egjm,egjlo,fhl,fhk,gim,gin,hjn,hjn,hk,hk,il,il,jn,jk",
       "a,bdfhl,dfhkn,eil,fim,gko,gk,hl,hn,in,in,j,k,k,k,l,km"},
      {"dccbcccefgih", "bbbcdefghkji",
       "c,bbdefgjn,degijln,efiln,fgjln,fhkn,ghkn,gim,giko,hjm,hjl,hko,ikm,ilo,iko,jn,jl",
       "b,bcdgim,cehjlo,ehk,ehk,fin,fim,gko,gl,hm,hl,in,io,jo,jo,j,jl"},
      {"eddcbcccdfgh", "ccbbcdefghji",
       "d,bbcdfgik,deghjln,egikmo,fhjmno,gikm,gikn,gjmo,hjlm,hkmo,hklo,ikn,ikmo,jlo,jlm,kn,jl",
       "b,bcdegj,degikm,egkn,ehkn,fim,fhl,fjo,gj,gk,hko,hl,hm,in,in,jo,ik"},
      {"feedccbccdeg", "dcccbccefghi",
       "e,cbccdeghkn,defhikmo,efikmo,fhjmo,filn,gjmo,hjmo,hkmoo,hkn,ilno,imo,jmn,jn,jnoo,k,jl",
       "c,bbdefhjm,degikm,egjm,ehkn,filo,filn,gjn,gjn,gk,hkn,hl,im,in,jm,j,ik"}}});
constexpr Bands kPhoto444 = bands_of(
    {{{"cbbccdefgjih", "abcdefgkjiii",
       "c,bbdegim,degikm,egilo,egjlo,fhko,fhko,gim,gil,hjm,hjm,hk,iko,il,ik,jn,jk",
       "a,bdhk,cfim,fk,gk,hm,h,i,j,j,j,l,l,m,m,m,mm"},
      {"eccbcccdfghi", "abcdefghkjjj",
       "d,bbcefhj,deghjmn,efiln,fgjlm,fhkn,ghkn,gim,gikn,hjmo,hjl,hkn,hkm,ilo,ikn,jn,jl",
       "a,begio,cfhl,fin,fio,gl,gl,hm,io,i,j,k,k,l,l,m,ln"},
      {"eddccbccdfgh", "bbbcdefghkji",
       "d,bbcdfgil,defhjln,egikno,fhjmoo,giln,gjln,hjmo,hjlmo,hkmo,iklo,ikn,ikmo,jmn,jlmo,ko,jl",
       "a,bdegjn,dfhjn,fim,fjm,gk,gk,hm,in,jn,j,jo,k,k,k,l,km"},
      {"geddcbcccdfh", "ccbbcdefghij",
       "e,bbcdefgikn,defhikmo,egikmo,fhjmo,gilno,gjmn,hjmo,hknoo,hln,ilno,imo,imno,jn,jnoo,k,ik",
       "b,bcdfgim,cegikn,ehkn,fhlo,fjn,fjn,gko,hko,hl,hl,im,in,jo,jo,k,il"}}});
constexpr Bands kText420 = bands_of(
    {{{"addccdefgjih", "abcdefgkjiii",
       "c,cbcdfhl,ddfhjk,efiln,fgjklo,fhk,ghlo,gim,hil,hjm,hjn,hko,ikn,iko,il,kn,kl",
       "a,cdgl,ceh,eho,ei,fjn,fk,fl,hl,hm,hl,hl,io,i,j,j,ij"},
      {"aedddcddfgih", "abcdefghkjjj",
       "c,cbcdefhm,ddfgikm,ffikn,fgjllm,ghkn,gilo,him,hjkn,hjn,ijm,iko,ikm,jmn,jln,k,km",
       "b,bceim,cegk,dgk,ehm,fjm,fjn,gk,gl,hl,hlo,hl,in,in,j,k,jk"},
      {"afedddcddghi", "acccdefghkji",
       "d,cbccdfgi,defghjlo,ffhjmn,fgikmmn,gikn,hilo,hjm,hjlln,ikno,ikm,ilo,jlmm,jn,kmmo,l,km",
       "b,bcdfjn,cegim,egj,fhk,fim,fin,gk,gl,hl,hl,im,in,jo,jo,k,jl"},
      {"agfeedddcdeh", "addccdefghji",
       "d,cccccdefhl,eeefgijln,fghjlno,fhjlmnnno,giln,hjmn,ikno,ilnnmn,ilo,jmpn,jn,knnnmo,k,kppno,"
       "l,kl",
       "c,bbcegil,deghkn,egilo,fhkn,gim,gjm,hko,hlo,il,im,in,jo,j,jo,k,ik"}}});
constexpr Bands kText444 = bands_of(
    {{{"addccdefgjih", "abcdefgkjiii",
       "c,cbcdfgk,ddfhjk,efhkn,fgjklm,ghko,ghko,gim,hikn,hjm,hjm,hko,ijm,iko,ik,ko,kl",
       "a,bdi,dfjo,ei,eio,fjm,gl,hm,i,hm,k,j,k,k,m,l,lm"},
      {"aeddcdddfgih", "abcdefghkjjj",
       "d,cbcdefhm,ddegikl,efhjm,fgikklo,fhjm,ghkno,gil,gijlo,hjmo,hjl,hkn,ijln,iln,jkm,ko,jl",
       "a,ccgm,cfio,ehm,fhl,fkm,gk,hm,in,hl,j,io,j,j,k,l,im"},
      {"agedddcddfhi", "abcdefghikkk",
       "d,cbccdegj,defghjlo,ffhkmn,ghjknmn,gilo,hjlo,hjm,hjllm,ikno,ilmo,iln,jlmmo,jn,knmn,l,km",
       "a,ccegl,dehjo,ehko,fhjn,gjm,gjo,hl,hl,gko,im,hm,il,hn,j,io,hk"},
      {"ahfedddcddgi", "accdddefghij",
       "d,cccccdeghl,deffghjln,fgijln,ghjlmnnn,gjln,hjmno,hkno,ilnnmn,jm,jnpn,jn,konnmo,k,lppon,l,"
       "jl",
       "b,bcdefin,defhjm,egilo,ehjkmn,filo,filo,gkn,hkn,hjlo,ilo,hlo,ikmn,ilo,jmo,jm,ik"}}});
constexpr Bands kPsnr420 = bands_of(
    {{{"bbbcdefjihhh", "abcdefjiiihh",
       "b,bcegk,degkn,dfjo,egjm,fhl,fhl,fim,gim,gin,gin,hj,hj,hk,hk,im,hj",
       "a,behm,cfin,fin,fjo,gjo,gk,gl,hm,io,io,j,k,l,l,m,km"},
      {"cbbccdefgjih", "abcdefgkjiii",
       "c,bbdehk,defilo,efil,fgjln,fhkn,fhkn,gil,giko,him,hjl,hjn,hjm,iln,ikm,jm,ik",
       "a,bdfim,dfhlo,fhl,fhl,gjn,gin,gj,hk,hl,il,im,in,jn,jn,ko,jl"},
      {"cccbccdefgih", "bbbcdefgjiii",
       "d,bbcdfhk,defhjm,ffhkn,fgjlm,ghkm,gikm,hilo,hjlmo,hjmo,ijln,ikn,ikmn,jlo,jlmn,jn,ik",
       "b,bcdfim,degilo,egjn,egjn,fhl,fhko,fim,gim,gj,gjn,hk,hk,hk,hk,im,hk"},
      {"edccbccddfgh", "ccbbcdefghij",
       "e,cbccdegil,defgikm,efhkmo,fgjmo,ghln,gimo,hjm,hkno,iko,iloo,jm,jmo,jn,knoo,ko,il",
       "d,bbcefhkm,degikmo,efiln,fgjmo,fhkn,fikn,gim,gjm,hjn,hjn,hko,iko,il,il,jn,iko"}}});
constexpr Bands kPsnr444 = bands_of(
    {{{"abcdefgkjiii", "abcdefjiiihh",
       "b,bcehk,degjm,dfjn,egjl,fhl,fhk,fhm,gil,gim,gim,hjn,hjn,hko,hj,il,hjn",
       "a,bein,cei,fj,fj,gk,gm,io,io,j,j,k,l,m,n,n,mo"},
      {"bbbcdefghkji", "abcdefgkjiii",
       "c,bbdfhk,ddfikn,efilo,fgjln,fhkn,ghkm,gil,hikn,hjlo,hjlo,ijm,ijl,ikn,ikm,jm,iko",
       "a,bdfjn,dfhl,eim,fhm,gj,gj,hk,hl,im,im,jn,ko,k,k,l,km"},
      {"ccbcccdefgih", "abcdefghkjjj",
       "d,bbcdfhk,defhjm,ffhkn,fgjlm,ghkm,gikm,hilo,hjlmo,hjmo,ijln,ikn,ikmn,jlo,jlmn,jn,ik",
       "b,bcefim,cegim,egjn,egjn,fhm,fil,gjn,gjn,gk,hko,il,il,im,jm,jn,jk"},
      {"ddccbccdefgh", "cbbccdefghij",
       "e,cbccdegil,defgikm,efhkmo,fgjmo,ghln,gimo,hjm,hkno,iko,iloo,jm,jmo,jn,knoo,ko,il",
       "c,bbdegikn,degikm,efilo,ehkm,fhlo,filo,gim,gjn,hko,hkn,hl,il,im,jm,jm,hko"}}});

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
