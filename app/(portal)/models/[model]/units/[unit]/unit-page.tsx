'use client';

import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { problemOf } from '#app/_lib/problem.ts';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { putInAddress } from '#app/(portal)/vms/[vmId]/put-in-address.ts';
import { modelHref } from '../../../model-data.ts';
import { dueLines } from '../due-lines.ts';
import type { NamedUnit, ShownUnitDetails, UnitParts } from '../unit-data.ts';
import { useDue, useMachine, useRuns, useUnit, useUnitRelations } from '../use-unit.ts';
import { whyOf } from '../why-unit.ts';
import { DueCard } from './due-card.tsx';
import { MachineCard } from './machine-card.tsx';
import { StageCard } from './stage-card.tsx';
import type { UnitAct } from './unit-acts.ts';
import { UnitHead } from './unit-head.tsx';
import { WhyCard } from './why-card.tsx';

// Rendered by the server; their scripts follow the page's.
const RunsCard = dynamic(() => import('./runs-card.tsx').then((module) => module.RunsCard));
const UnitRelations = dynamic(() => import('./unit-relations.tsx').then((module) => module.UnitRelations));
const UnitDialogs = dynamic(() => import('./unit-dialogs.tsx').then((module) => module.UnitDialogs), { ssr: false });

export interface UnitPageProps {
  model: string;
  /** The run that the address names. */
  run: string | null;
  /** What the server read at `readAt` (milliseconds since 1970); undefined if it could not read a part. */
  first: ShownUnitDetails;
  parts: UnitParts;
  readAt: number;
}

/** One unit, with live data. Each card fails independently. */
export function UnitPage({ model, run: firstRun, first, parts, readAt }: UnitPageProps) {
  const { t } = useTranslation('services');
  const name: NamedUnit = { model, unit: first.unit, vmId: first.vmId };
  const [act, setAct] = useState<UnitAct | null>(null);
  const [chosen, setChosen] = useState(firstRun);
  const runsCard = useRef<HTMLElement>(null);
  const unitQuery = useUnit(name, first, readAt);
  const due = useDue(name, parts.due, readAt);
  const relations = useUnitRelations(name, parts.relations, readAt);
  const runs = useRuns(name, parts.runs, readAt);
  const machine = useMachine(name, parts.machine, readAt);
  const unit = unitQuery.data;
  if (unitQuery.error && problemOf(unitQuery.error).status === 404) return <UnitGone name={name} />;
  const running = runs.runs?.find(({ outcome }) => outcome === 'running');
  const hooks = due.data?.items ?? [];
  const lines = dueLines(hooks, unit.failing, running);
  const why = whyOf({ unit, machine: machine.machine, due: hooks, running });
  const open = (run: string) => {
    setChosen(run);
    putInAddress({ run });
  };
  const show = (run: string) => {
    open(run);
    runsCard.current?.scrollIntoView({ block: 'start' });
  };
  return (
    <>
      <UnitHead name={name} unit={unit} machine={machine.machine} onAct={setAct} />
      {unitQuery.error ? (
        <Card className="mb-4">
          <QueryError
            title={t('unit.stale')}
            error={unitQuery.error}
            onRetry={unitQuery.refetch}
            at={new Date(unitQuery.errorUpdatedAt)}
          />
        </Card>
      ) : null}
      {why === null ? null : (
        <WhyCard
          {...{ name, unit, why, lines, machine: machine.machine, onAct: setAct, onShowRun: show }}
          isDueKnown={due.data !== undefined}
          first={parts.failed}
        />
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1fr)_var(--aside)]">
        <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-4">
          {unit.stage === 'removed' ? null : <DueCard name={name} unit={unit} due={due} lines={lines} />}
          <StageCard unit={unit} />
        </div>
        <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-4">
          <MachineCard name={name} unit={unit} machine={machine} instance={parts.instance} />
          <UnitRelations name={name} relations={relations} />
        </div>
      </div>
      <RunsCard ref={runsCard} {...{ name, runs, chosen, readAt }} first={parts.run} onOpen={open} />
      {act === null ? null : (
        <UnitDialogs act={act} name={name} unit={unit} lines={lines} onClose={() => setAct(null)} />
      )}
    </>
  );
}

/** Shown once the unit is no longer known, because its model was destroyed. */
function UnitGone({ name: { model, unit } }: { name: NamedUnit }) {
  const { t } = useTranslation('services');
  return (
    <Card>
      <EmptyState
        as="h1"
        title={t('unit.gone.title', { name: unit })}
        actions={
          <Button asChild>
            <Link href={modelHref(model)}>{t('service.gone.act')}</Link>
          </Button>
        }
      >
        <p>{t('unit.gone.why')}</p>
      </EmptyState>
    </Card>
  );
}
