// Text that has broken pages elsewhere: markup and script in many dresses, text that runs the other way or has no
// width, piles of marks, and lengths that nobody expects.

const MARKUP = [
  "<script>globalThis.broken=1</script>",
  "</script><script>globalThis.broken=1</script>",
  "<img src=x onerror=globalThis.broken=1>",
  "<svg onload=globalThis.broken=1>",
  "<svg><script>globalThis.broken=1</script></svg>",
  "<iframe srcdoc='<script>parent.broken=1</script>'></iframe>",
  "<body onload=globalThis.broken=1>",
  "<a href=javascript:globalThis.broken=1>x</a>",
  "<style>*{display:none}</style>",
  "<base href=//evil.example/>",
  "<form action=//evil.example><input type=submit>",
  "<meta http-equiv=refresh content='0;url=//evil.example'>",
  "<math><mtext><table><mglyph><style><img src=x onerror=globalThis.broken=1>",
  "<!--", "-->", "]]>", "<![CDATA[<script>globalThis.broken=1</script>]]>",
  "\"><script>globalThis.broken=1</script>", "'><script>globalThis.broken=1</script>",
  "\" onmouseover=\"globalThis.broken=1", "' onfocus='globalThis.broken=1' autofocus='",
  "javascript:globalThis.broken=1", "data:text/html,<script>globalThis.broken=1</script>",
  "{{ 7 * 7 }}", "{% raw %}", "${7*7}", "{name}", "[link](javascript:globalThis.broken=1)", "[a] {n} [b]",
  "&lt;script&gt;", "&#60;script&#62;", "&amp;amp;", "&#x110000;", "%3Cscript%3E", "\\u003cscript\\u003e", "\\x3cscript>",
  "<noscript><p title=\"</noscript><img src=x onerror=globalThis.broken=1>\">",
  "<template><script>globalThis.broken=1</script></template>", "<plaintext>", "<title>", "<textarea>", "<select>",
];
const SCRIPTS = [
  "\u202Eevil.exe", "\u2066\u2067\u2068", "abc\u202E\u202D\u202Cdef", "مرحبا بالعالم", "שלום עולם", "a\u200Bb\u200Cc\u200Dd\uFEFFe",
  "\u00AD".repeat(40), `Z${"\u0335\u0321\u0337\u0489".repeat(20)}`, "e\u0301".repeat(40), "👩‍👩‍👧‍👦".repeat(10), "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "\uFDFD".repeat(12), "𒐫".repeat(12), "ﷺ".repeat(20), "ᚠᛇᚻ᛫ᛒᛦᚦ", "Ꙭ", "null", "undefined", "NaN", "-0",
  "' OR 1=1 --", "../../etc/passwd", "C:\\con\\con", "W".repeat(120), "iiiii".repeat(24), " ".repeat(60), "x",
];

export const HOSTILE = [...MARKUP, ...SCRIPTS];
