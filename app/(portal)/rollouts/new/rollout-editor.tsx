'use client';

import dynamic from 'next/dynamic';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import type { ListedField } from '#server/domain/fleet/index.ts';
import type { RolloutView } from '#server/domain/rollouts/index.ts';
import { type FormFaults, faultsOf } from './faults.ts';
import { Foot } from './foot.tsx';
import type { StrategyChoice } from './how-card.tsx';
import { ringSizes } from './ring-sizes.ts';
import { type ChangeForm, inputOf, missingPart, type RolloutForm } from './rollout-form.ts';
import { forRuns } from './run-parts.ts';
import type { LoadedSchema } from './settings-patch-props.ts';
import { useDraftPlan } from './use-draft-plan.ts';
import { type LoadedMatches, useMatches } from './use-matches.ts';
import { useStart } from './use-start.ts';
import { WhatCard } from './what-card.tsx';
import { WhoCard } from './who-card.tsx';

// Rendered by the server; their scripts follow the page's.
const HowCard = dynamic(() => import('./how-card.tsx').then((module) => module.HowCard));
const MovedCard = dynamic(() => import('./moved-card.tsx').then((module) => module.MovedCard));
const PlanCard = dynamic(() => import('./plan-card.tsx').then((module) => module.PlanCard));
const WhenCard = dynamic(() => import('./when-card.tsx').then((module) => module.WhenCard));

export interface RolloutEditorProps {
  first: RolloutForm;
  /** The stored draft that the page edits; null for a new rollout. */
  stored: RolloutView | null;
  strategies: readonly StrategyChoice[];
  fields: readonly ListedField[];
  /** The schema of the settings that the form begins with; null without a handler. */
  loaded: LoadedSchema | null;
  /** The VMs that the form selects at first; null if it selects none by a filter. */
  matches: LoadedMatches | null;
}

/** The form of a rollout: who, what, how, when, and the plan that follows from them. */
export function RolloutEditor({ first, stored, strategies, fields, loaded, matches }: RolloutEditorProps) {
  const { t } = useTranslation('rollouts');
  const [form, setForm] = useState(first);
  const [accepted, setAccepted] = useState<readonly string[]>([]);
  const set = (change: Partial<RolloutForm>) => setForm((before) => ({ ...before, ...change }));
  const isRun = form.change.kind === 'run';
  const choices = useMemo(() => strategiesFor(strategies, isRun), [strategies, isRun]);
  // A strategy means something else for a run, so a change between the two begins with the chosen strategy's parts.
  const changed = (change: ChangeForm) => {
    const toRun = change.kind === 'run';
    const strategy = strategiesFor(strategies, toRun).find(({ name }) => name === form.strategy);
    set({ change, ...(toRun !== isRun && strategy?.parts) });
  };
  const missing = missingPart(form);
  const suggested = useSuggestedName(form);
  const definition = useMemo(
    () => (missing === null ? { kind: 'rollout' as const, ...inputOf(form, suggested) } : null),
    [form, missing, suggested],
  );
  const manual = useManualPlan(form, definition, matches);
  const draft = useDraftPlan(manual.isHeld ? null : definition, stored);
  const starting = useStart(draft.take);
  const faults = useMemo(() => faultsOf(draft.problem?.faults ?? []), [draft.problem]);
  const plan = draft.settled ? draft.plan : null;
  const sizes = plan === null ? ringSizes(form.rings, draft.plan?.members ?? 0) : plan.rings.map(({ size }) => size);
  useDraftAddress(stored === null ? draft.rollout?.id : undefined);
  return (
    <>
      <PageHeader title={t(stored === null ? 'new.title' : 'new.editTitle')} />
      <NameFields form={form} set={set} suggested={suggested} faults={faults} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)]">
          <WhoCard form={form} set={set} fields={fields} faults={faults} selected={plan?.matched} loaded={matches} />
          <WhatCard change={form.change} onChange={changed} faults={faults} loaded={loaded} />
        </div>
        <HowCard
          form={form}
          set={set}
          strategies={choices}
          fields={fields}
          faults={faults}
          sizes={draft.plan === null ? form.rings.map(() => null) : sizes}
        />
        <WhenCard form={form} set={set} faults={faults} />
        {draft.rollout === null ? null : <MovedCard rollout={draft.rollout} onAgain={draft.again} />}
        <PlanCard draft={draft} isReady={missing === null} hold={manual} accepted={accepted} onAccept={setAccepted} />
      </div>
      <Foot draft={draft} starting={starting} missing={missing} accepted={accepted} />
    </>
  );
}

const strategiesFor = (strategies: readonly StrategyChoice[], isRun: boolean): readonly StrategyChoice[] =>
  isRun ? strategies.map((one) => ({ ...one, parts: forRuns(one.parts) })) : strategies;

/** Above this many matches, planning waits for a request, because it takes seconds. */
const manualFrom = 50_000;

/** Whether the plan waits for a request, and a function that requests it. */
function useManualPlan(
  form: RolloutForm,
  definition: object | null,
  matches: LoadedMatches | null,
): { isHeld: boolean; release(): void } {
  const matching = useMatches(form, matches).data?.matching ?? 0;
  const [released, setReleased] = useState<object | null>(null);
  const isHeld = definition !== null && matching > manualFrom && released !== definition;
  return { isHeld, release: () => setReleased(definition) };
}

interface NameFieldsProps {
  form: RolloutForm;
  set(change: Partial<RolloutForm>): void;
  suggested: string;
  faults: FormFaults;
}

function NameFields({ form, set, suggested, faults }: NameFieldsProps) {
  const { t } = useTranslation('rollouts');
  return (
    <div className="mb-4 grid gap-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
      <Field label={t('new.name')} error={faults.at('/name')}>
        <Input
          value={form.name}
          placeholder={suggested}
          maxLength={200}
          autoComplete="off"
          onChange={(event) => set({ name: event.target.value })}
        />
      </Field>
      <Field label={t('new.note')} error={faults.at('/note')}>
        <Input
          value={form.note}
          maxLength={4000}
          autoComplete="off"
          onChange={(event) => set({ note: event.target.value })}
        />
      </Field>
    </div>
  );
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

/** Once the draft is stored, the page's URL is that of the draft, so that a reload keeps it. */
function useDraftAddress(id: string | undefined): void {
  useEffect(() => {
    if (id !== undefined) window.history.replaceState(null, '', `/rollouts/${id}/edit`);
  }, [id]);
}
