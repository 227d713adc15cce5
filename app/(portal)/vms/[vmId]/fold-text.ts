/** Maximum number of lines and of characters that a folded text shows. */
const shownLines = 12;
const shownCharacters = 600;
/**
 * A text of up to this many times the limit is shown whole, because a button to show the rest would take as much space
 * as the rest.
 */
const slack = 1.5;

/** Returns the visible beginning of a long text; null if the text is shown whole. */
export function foldText(text: string): string | null {
  const lines = text.trimEnd().split('\n');
  const isLong = lines.length > shownLines * slack || text.length > shownCharacters * slack;
  if (!isLong) return null;
  const first = lines.slice(0, shownLines).join('\n');
  const cut = first.slice(0, shownCharacters);
  const lineEnd = cut.lastIndexOf('\n');
  // Cuts at the end of a line, unless that would leave too little text.
  const beginning = first.length > cut.length && lineEnd > shownCharacters / 2 ? cut.slice(0, lineEnd) : cut;
  return beginning
    .toWellFormed()
    .replace(/\uFFFD$/, '')
    .trimEnd();
}
