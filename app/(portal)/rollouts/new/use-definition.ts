'use client';

import { useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { SentDefinition, SentFilter } from './definition.ts';
import { type JsonDraft, jsonOf, readJson } from './json-mode.ts';
import { inputOf, type MissingPart, missingPart, type RolloutForm } from './rollout-form.ts';
import type { StrategyChoice } from './strategy-choice.ts';

/** A definition that is edited in the form or as JSON. */
export interface EditedDefinition {
  /** The form; while JSON is edited, what the form would show. */
  form: RolloutForm;
  /** The JSON; null while the form is edited. */
  json: JsonDraft | null;
  set(change: Partial<RolloutForm>): void;
  missing: MissingPart;
  /** A name for a rollout that has none yet. */
  suggested: string;
  /** What the portal plans; null if something is missing. */
  definition: SentDefinition<SentFilter> | null;
  openJson(): void;
  typeJson(text: string): void;
  /** Shows the form again, if it can show the JSON. */
  closeJson(): void;
}

/** Returns the edited definition. */
export function useDefinition(first: RolloutForm, strategies: readonly StrategyChoice[]): EditedDefinition {
  const { t } = useTranslation('rollouts');
  const [form, setForm] = useState(first);
  const [json, setJson] = useState<JsonDraft | null>(null);
  const suggested = useSuggestedName(form);
  const missing = json === null ? missingPart(form) : json.sent === null ? 'json' : null;
  const definition = useMemo(() => {
    if (missing !== null) return null;
    return json === null ? { kind: 'rollout' as const, ...inputOf(form, suggested) } : json.sent;
  }, [form, json, missing, suggested]);
  const read = (text: string) => setJson(readJson(text, form, strategies));
  return {
    ...{ json, missing, suggested, definition },
    form: json?.form ?? form,
    set: (change) => setForm((before) => ({ ...before, ...change })),
    openJson: () => read(jsonOf(form, suggested)),
    typeJson: read,
    closeJson() {
      if (json?.form == null) return toast(t('new.json.noForm'));
      setForm(json.form);
      setJson(null);
    },
  };
}

/** Returns a name that says what changes, for a rollout that has no name yet. */
function useSuggestedName({ change }: RolloutForm): string {
  const { t } = useTranslation('rollouts');
  const subject =
    change.kind === 'run'
      ? change.run.runbook
      : change.extension.trim() || change.handler.slice(change.handler.lastIndexOf('.') + 1);
  if (subject === '') return t('new.title');
  if (change.kind !== 'set') return t(`new.suggested.${change.kind}`, { subject });
  if (change.version !== '') return `${subject} ${change.version}`;
  return change.state === ''
    ? t('new.suggested.settings', { subject })
    : t(`new.suggested.${change.state}`, { subject });
}
