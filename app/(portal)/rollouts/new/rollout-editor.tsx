'use client';

import dynamic from 'next/dynamic';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import type { ListedField } from '#server/domain/fleet/index.ts';
import type { RolloutView } from '#server/domain/rollouts/index.ts';
import { faultsOf } from './faults.ts';
import { NameFields } from './name-fields.tsx';
import { usePlanHold } from './plan-hold.ts';
import { ringSizes } from './ring-sizes.ts';
import type { RolloutForm } from './rollout-form.ts';
import type { LoadedSchema } from './settings-patch-props.ts';
import type { StrategyChoice } from './strategy-choice.ts';
import { useDefinition } from './use-definition.ts';
import { useDraftPlan } from './use-draft-plan.ts';
import type { LoadedMatches } from './use-matches.ts';
import { useStart } from './use-start.ts';
import { useStrategies } from './use-strategies.ts';
import { ViewSwitch } from './view-switch.tsx';

// Rendered by the server; their scripts follow the page's.
const Foot = dynamic(() => import('./foot.tsx').then((module) => module.Foot));
const HowCard = dynamic(() => import('./how-card.tsx').then((module) => module.HowCard));
const JsonCard = dynamic(() => import('./json-card.tsx').then((module) => module.JsonCard));
const MovedCard = dynamic(() => import('./moved-card.tsx').then((module) => module.MovedCard));
const PlanCard = dynamic(() => import('./plan-card.tsx').then((module) => module.PlanCard));
const WhatCard = dynamic(() => import('./what-card.tsx').then((module) => module.WhatCard));
const WhenCard = dynamic(() => import('./when-card.tsx').then((module) => module.WhenCard));
const WhoCard = dynamic(() => import('./who-card.tsx').then((module) => module.WhoCard));

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

/** The form of a rollout: who, what, how, when, and the plan that follows from them. It can be edited as JSON. */
export function RolloutEditor({ first, stored, strategies, fields, loaded, matches }: RolloutEditorProps) {
  const { t } = useTranslation('rollouts');
  const [accepted, setAccepted] = useState<readonly string[]>([]);
  const editing = useDefinition(first, strategies);
  const { form, json, set, suggested, definition } = editing;
  const { choices, changed } = useStrategies(strategies, form, set);
  const hold = usePlanHold(form, definition, matches);
  const draft = useDraftPlan(hold.isHeld ? null : definition, stored);
  const starting = useStart(draft.take);
  const [insists, setInsists] = useState(false);
  const faults = useMemo(() => faultsOf(draft.problem?.faults ?? [], insists), [draft.problem, insists]);
  const missing = editing.missing ?? (faults.onlyOpen ? 'parameters' : null);
  const plan = draft.settled ? draft.plan : null;
  const sizes = plan === null ? ringSizes(form.rings, draft.plan?.members ?? 0) : plan.rings.map(({ size }) => size);
  useDraftAddress(stored === null ? draft.rollout?.id : undefined);
  return (
    <>
      <PageHeader
        title={t(stored === null ? 'new.title' : 'new.editTitle')}
        actions={<ViewSwitch editing={editing} />}
      />
      {json === null ? <NameFields form={form} set={set} suggested={suggested} faults={faults} /> : null}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {json === null ? (
          <>
            <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)]">
              <WhoCard
                form={form}
                set={set}
                fields={fields}
                faults={faults}
                selected={plan?.matched}
                loaded={matches}
              />
              <WhatCard change={form.change} onChange={changed} faults={faults} loaded={loaded} />
            </div>
            <HowCard
              {...{ form, set, fields, faults }}
              strategies={choices}
              sizes={draft.plan === null ? form.rings.map(() => null) : sizes}
            />
            <WhenCard form={form} set={set} faults={faults} />
          </>
        ) : (
          <JsonCard
            draft={json}
            faults={faults}
            hasSecrets={form.change.secrets.mode === 'replace' || Object.keys(form.change.run.secrets).length > 0}
            onText={editing.typeJson}
          />
        )}
        {draft.rollout === null ? null : <MovedCard rollout={draft.rollout} onAgain={draft.again} />}
        <PlanCard draft={draft} isReady={missing === null} hold={hold} accepted={accepted} onAccept={setAccepted} />
      </div>
      <Foot
        {...{ draft, starting, missing, accepted, hold }}
        isJson={json !== null}
        onInsist={() => setInsists(true)}
      />
    </>
  );
}

/** Once the draft is stored, the page's URL is that of the draft, so that a reload keeps it. */
function useDraftAddress(id: string | undefined): void {
  useEffect(() => {
    if (id !== undefined) window.history.replaceState(null, '', `/rollouts/${id}/edit`);
  }, [id]);
}
