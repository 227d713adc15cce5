/** The visible part of a folded text. */
const shownLines = 12;
const shownCharacters = 600;
/** A text that is slightly longer is shown whole: a button would take as much space. */
const slack = 1.5;

/** The beginning of a long text; null for one that is shown whole. */
export function foldText(text: string): string | null {
  const lines = text.trimEnd().split('\n');
  const isLong = lines.length > shownLines * slack || text.length > shownCharacters * slack;
  if (!isLong) return null;
  const first = lines.slice(0, shownLines).join('\n');
  const cut = first.slice(0, shownCharacters);
  const lineEnd = cut.lastIndexOf('\n');
  // Whole lines, unless a long one would leave too little.
  const beginning = first.length > cut.length && lineEnd > shownCharacters / 2 ? cut.slice(0, lineEnd) : cut;
  return beginning
    .toWellFormed()
    .replace(/\uFFFD$/, '')
    .trimEnd();
}
