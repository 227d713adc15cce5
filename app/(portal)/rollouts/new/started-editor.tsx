'use client';

import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { ListedField } from '#server/domain/fleet/index.ts';
import type { RolloutView } from '#server/domain/rollouts/index.ts';
import { editFreedom } from './edit-freedom.ts';
import { faultsOf } from './faults.ts';
import { InFoot } from './in-foot.tsx';
import { NameFields } from './name-fields.tsx';
import { partId } from './part-card.tsx';
import type { RolloutForm } from './rollout-form.ts';
import type { StrategyChoice } from './strategy-choice.ts';
import { useDefinition } from './use-definition.ts';
import { useSave } from './use-save.ts';
import { ViewSwitch } from './view-switch.tsx';

// Rendered by the server; their scripts follow the page's.
const HowCard = dynamic(() => import('./how-card.tsx').then((module) => module.HowCard));
const JsonCard = dynamic(() => import('./json-card.tsx').then((module) => module.JsonCard));
const WhenCard = dynamic(() => import('./when-card.tsx').then((module) => module.WhenCard));

export interface StartedEditorProps {
  first: RolloutForm;
  stored: RolloutView;
  strategies: readonly StrategyChoice[];
  fields: readonly ListedField[];
}

/**
 * Edits what can change in a rollout that has started (RO-34): its name, its limits and gates, and when it may
 * continue.
 */
export function StartedEditor({ first, stored, strategies, fields }: StartedEditorProps) {
  const { t } = useTranslation(['rollouts', 'common']);
  const editing = useDefinition(first, strategies);
  const { form, json, set, definition } = editing;
  const { busy, problem, save } = useSave(stored);
  const faults = useMemo(() => faultsOf(problem?.faults ?? []), [problem]);
  const freedom = useMemo(() => editFreedom(stored, first.rings), [stored, first]);
  return (
    <>
      <PageHeader title={t('rollouts:new.editTitle')} actions={<ViewSwitch editing={editing} />} />
      <Banner status="waiting" boxed className="mb-4">
        {t(stored.state === 'paused' ? 'rollouts:edit.paused' : 'rollouts:edit.running')}
      </Banner>
      {json === null ? <NameFields form={form} set={set} suggested={stored.name} faults={faults} /> : null}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {json === null ? (
          <>
            <HowCard
              {...{ form, set, strategies, fields, faults }}
              sizes={stored.rings.map(({ size }) => size)}
              freedom={freedom}
            />
            <WhenCard form={form} set={set} faults={faults} isStarted />
          </>
        ) : (
          <JsonCard draft={json} faults={faults} hasSecrets={stored.hasProtectedSettings} onText={editing.typeJson} />
        )}
      </div>
      <InFoot>
        {problem === null ? null : <Problem problem={problem} />}
        <span className="ms-auto flex flex-wrap items-center gap-2">
          <Button asChild>
            <Link href={`/rollouts/${stored.id}`}>{t('common:cancel')}</Link>
          </Button>
          <Button
            variant="primary"
            busy={busy}
            aria-disabled={definition === null || undefined}
            onClick={() => definition !== null && void save(definition)}
          >
            {t('rollouts:edit.save')}
          </Button>
        </span>
      </InFoot>
    </>
  );
}

/** Why the changes were not saved. A fault leads to its part of the page. */
function Problem({ problem: { faults, message } }: { problem: ExplainedProblem }) {
  const { t } = useTranslation('rollouts');
  return (
    <span className="flex min-w-0 flex-1 items-center gap-2 text-failed-text" role="alert" id={partId('plan')}>
      <StatusIcon status="failed" />
      <span className="min-w-0 wrap-anywhere">
        {faults.length === 0 ? message : t('edit.faults', { paths: faults.map(({ path }) => path).join(', ') })}
      </span>
    </span>
  );
}
