import { jsonPointer } from '#protocol/pointer.ts';
import { readDraft } from './plan-draft.ts';

/**
 * Texts of fields that are not valid yet, by the place in the plan that they would change. The place is a JSON pointer.
 * Part of the draft, so that an invalid text counts as an unsaved change and stays when the view changes.
 */
export type TypedTexts = Readonly<Record<string, string>>;

/** Returns the place of an option of a script, or of all its options. */
export const optionsPlace = (script: string, ...option: string[]): string =>
  jsonPointer(['Scripts', script, 'Options', ...option]);

/** Whether a place is another place or inside it. Both are JSON pointers. */
export const isWithin = (place: string, outer: string): boolean => place === outer || place.startsWith(`${outer}/`);

/** Returns the texts with one of them changed; null removes the text at the place and all texts inside it. */
export function withTyped(typed: TypedTexts, place: string, text: string | null): TypedTexts {
  if (text !== null) return { ...typed, [place]: text };
  return Object.fromEntries(Object.entries(typed).filter(([at]) => !isWithin(at, place)));
}

/** Returns the texts whose scripts the plan still has. While the plan cannot be read, every text stays. */
export function typedIn(plan: string, typed: TypedTexts): TypedTexts {
  if (Object.keys(typed).length === 0) return typed;
  const scripts = readDraft(plan)?.scripts.map(({ name }) => jsonPointer(['Scripts', name]));
  if (scripts === undefined) return typed;
  return Object.fromEntries(Object.entries(typed).filter(([at]) => scripts.some((script) => isWithin(at, script))));
}
