import type { SentDefinition, SentFilter, SentStrategy } from './definition.ts';
import { definitionOf } from './definition-of.ts';
import { formOf } from './read-form.ts';
import { inputOf, type RolloutForm } from './rollout-form.ts';

/** A definition that is edited as JSON. */
export interface JsonDraft {
  /** The text as typed. */
  text: string;
  /** What the portal plans; null while the text is not a JSON object. */
  sent: SentDefinition<SentFilter> | null;
  /** What the form would show; null if it cannot show the definition. */
  form: RolloutForm | null;
}

type Values = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the definition of a form as text, without secret values that were typed: these are never shown. */
export function jsonOf(form: RolloutForm, suggested: string): string {
  const { change, ...definition } = inputOf(form, suggested);
  const { protectedSettings, secretParameters: _, ...shown } = change;
  const isRemoved = protectedSettings === null;
  return JSON.stringify({ ...definition, change: isRemoved ? { ...shown, protectedSettings } : shown }, null, 2);
}

/**
 * Reads a definition that was typed. `before` is the form until then: its secret values stay unless the text has
 * some.
 */
export function readJson(
  text: string,
  before: RolloutForm,
  strategies: readonly { name: string; parts: SentStrategy }[],
): JsonDraft {
  const given = objectIn(text);
  if (given === null) return { text, sent: null, form: null };
  const typed = { kind: 'rollout', ...given, ...changeWith(given.change, before) };
  const sent = typed as object as SentDefinition<SentFilter>;
  return { text, sent, form: shownForm(sent, strategies) };
}

function objectIn(text: string): Values | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function changeWith(change: unknown, { change: { secrets, run } }: RolloutForm): { change?: Values } {
  if (isObject(change) && change.kind === 'run') {
    const isKept = !('secretParameters' in change) && Object.keys(run.secrets).length > 0;
    return isKept ? { change: { ...change, secretParameters: run.secrets } } : {};
  }
  if (!isObject(change) || 'protectedSettings' in change || secrets.mode !== 'replace') return {};
  return { change: { ...change, protectedSettings: secrets.values } };
}

/** The portal says what is wrong with a definition. The form only needs one whose main parts are there. */
function shownForm(
  sent: SentDefinition<SentFilter>,
  strategies: readonly { name: string; parts: SentStrategy }[],
): RolloutForm | null {
  const { name, note = null, strategy } = sent;
  const parts = (strategies.find((each) => each.name === strategy) ?? strategies[0])?.parts;
  if (parts === undefined || typeof name !== 'string' || !isObject(sent.select) || !isObject(sent.change)) return null;
  try {
    return formOf(definitionOf({ definition: sent, name, note }), parts);
  } catch {
    return null;
  }
}
