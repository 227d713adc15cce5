import type words from '#locales/en/activity.json';

type CodeOf<Key> = Key extends `act.${infer Code}` ? Singular<Code> : never;
type Singular<Code> = Code extends `${infer Base}_${'zero' | 'one' | 'other'}` ? Base : Code;

/** Codes of all actions: the `act.*` keys of `locales/en/activity.json`, with plural forms counted once. */
export type ActionCode = CodeOf<keyof typeof words>;

/** An entry of the activity log. It never contains protected values, only whether they changed. */
export interface Act {
  /** `<noun>.<verb>`, for example `extension.set`. */
  action: ActionCode;
  target: { kind: string; id: string };
  vmId?: string;
  /** The parts of the target that changed, before and after. Large values are stored as a `Cut`. */
  before?: object | null;
  after?: object | null;
  /** Further facts: names of objects that may be deleted later, counts, reasons. */
  details?: Record<string, unknown>;
}
