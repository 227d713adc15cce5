/** What a folded text shows. */
const shownLines = 12;
const shownCharacters = 600;
/** A text that is a little longer is shown whole: a button would take as much room. */
const slack = 1.5;

/** The beginning of a long text; null for one that is shown whole. */
export function foldText(text: string): string | null {
  const lines = text.trimEnd().split('\n');
  const isLong = lines.length > shownLines * slack || text.length > shownCharacters * slack;
  if (!isLong) return null;
  const beginning = lines.slice(0, shownLines).join('\n').slice(0, shownCharacters);
  return beginning
    .toWellFormed()
    .replace(/\uFFFD$/, '')
    .trimEnd();
}
