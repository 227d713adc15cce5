'use client';

import dynamic from 'next/dynamic';
import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import type { UnitWhyProps } from './unit-why-props.ts';
import { useWhyLead } from './use-why-lead.ts';
import { WhyChain } from './why-chain.tsx';

const WhyActs = dynamic(() => import('./why-acts.tsx').then((module) => module.WhyActs));
const FailedReason = dynamic(() => import('./failed-reason.tsx').then((module) => module.FailedReason));

/** Explains why a unit is not done or is degraded, with the chain of steps and what to do. */
export function WhyCard(props: UnitWhyProps) {
  const { t } = useTranslation('services');
  const { name, unit, why } = props;
  const id = useId();
  const lead = useWhyLead();
  const isDegraded = why.kind === 'skipped' || why.kind === 'relation' || why.kind === 'release';
  const { title, detail } = lead(props);
  return (
    <Card aria-labelledby={id} className="@container mb-4 overflow-hidden">
      <div className="px-4 pt-4 pb-1">
        <h2 id={id} className="mb-0.5 text-12 font-medium text-ink-3">
          {t(isDegraded ? 'unit.why.degraded' : unit.life === 'dying' ? 'unit.why.leaving' : 'unit.why.title')}
        </h2>
        <p className="text-16 font-medium tracking-tight text-pretty wrap-anywhere">
          {title}
          {why.kind === 'failing' ? <FailedReason name={name} run={why.failure.run} first={props.first} /> : null}
        </p>
        {detail === null ? null : <p className="mt-0.5 max-w-[100ch] text-pretty text-ink-2">{detail}</p>}
        <WhyChain {...props} />
      </div>
      <WhyActs {...props} />
    </Card>
  );
}
