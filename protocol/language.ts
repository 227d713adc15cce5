/** The canonical form of `lang[-locale]` (`de-at` → `de-AT`), or null where it is no language tag. */
export function canonicalLanguage(tag: string): string | null {
  try {
    return new Intl.Locale(tag.trim().replaceAll('_', '-')).baseName;
  } catch {
    return null;
  }
}
