import type words from '#locales/en/activity.json';

type CodeOf<Key> = Key extends `act.${infer Code}` ? Singular<Code> : never;
type Singular<Code> = Code extends `${infer Base}_${'zero' | 'one' | 'other'}` ? Base : Code;

/**
 * The closed list of acts: an act exists if `locales/en/activity.json` has a sentence for it. Plural forms count as
 * one.
 */
export type ActionCode = CodeOf<keyof typeof words>;

/** One act as people read it later. It never contains a protected value, only whether one changed. */
export interface Act {
  /** `<noun>.<verb>`, for example `extension.set`. */
  action: ActionCode;
  target: { kind: string; id: string };
  vmId?: string;
  /** The target before and after, as far as the act changed it; bounded in size when written. */
  before?: object | null;
  after?: object | null;
  /** Further facts: names of objects that may be deleted later, counts, reasons. */
  details?: Record<string, unknown>;
}
