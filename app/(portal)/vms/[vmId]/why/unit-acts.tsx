'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { LockOpen, RotateCw, SkipForward, SquareTerminal } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { WordsOnDemand } from '#app/_lib/i18n/words-on-demand.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { CardFooter } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { unitHref } from '#app/(portal)/models/[model]/services/service-data.ts';
import { modelHref } from '#app/(portal)/models/model-data.ts';
import type { ShownVmUnit } from '../units/hook-entries.ts';
import { useVmUnits } from '../units/use-vm-units.ts';
import { type NextActs, nextActs } from './next-acts.ts';

/** Loads the script of the dialog when it opens. */
const SkipDialog = dynamic(
  () => import('#app/(portal)/models/[model]/units/[unit]/skip-dialog.tsx').then((module) => module.SkipDialog),
  { ssr: false },
);

/** The footer of the “why” card about a unit: the reader's actions, the most useful one first. */
export function UnitActs({ vmId, unit: name }: { vmId: string; unit: string }) {
  const { t } = useTranslation('reports');
  const unit = useVmUnits(vmId, true).data?.items.find((one) => one.unit === name);
  if (unit === undefined) return null;
  const acts = nextActs(unit);
  const { model } = unit;
  return (
    <CardFooter className="max-sm:[&>a,&>button]:flex-[1_1_40%]">
      {acts.kind === 'failing' ? <FailingActs vmId={vmId} unit={unit} acts={acts} /> : null}
      {acts.kind === 'release' ? <ReleaseAct unit={unit} /> : null}
      {acts.run === null ? null : (
        <Button asChild>
          <Link href={`${unitHref(model, name)}?run=${acts.run}`} prefetch={false}>
            <SquareTerminal aria-hidden />
            {t('why.unit.act.output')}
          </Link>
        </Button>
      )}
      {acts.kind === 'relation' ? (
        <Button asChild>
          <Link href={modelHref(model)} prefetch={false}>
            {t('why.unit.act.relate', { model })}
          </Link>
        </Button>
      ) : null}
      <Button asChild>
        <Link href={unitHref(model, name)} prefetch={false}>
          {t('why.unit.act.open', { unit: name })}
        </Link>
      </Button>
    </CardFooter>
  );
}

interface FailingActsProps {
  vmId: string;
  unit: ShownVmUnit;
  acts: Extract<NextActs, { kind: 'failing' }>;
}

/** Decides on a hook that fails. A decision that the agent has not carried out yet is shown, and can be changed. */
function FailingActs({ vmId, unit: { model, unit }, acts: { failure, lines, isDue } }: FailingActsProps) {
  const { t } = useTranslation('reports');
  const trpc = useTRPC();
  const reload = useReload();
  const explain = useProblem();
  const may = useReader().can('operator');
  const [asks, setAsks] = useState(false);
  const retry = useMutation(trpc.units.resolve.mutationOptions({ onSettled: reload }));
  const { run, resolution } = failure;
  if (!may || !isDue) return null;
  return (
    <>
      <Button
        variant="primary"
        busy={retry.isPending}
        disabled={resolution === 'retry'}
        onClick={() => retry.mutate({ model, unit, run, retry: true })}
      >
        <RotateCw aria-hidden />
        {t('why.unit.act.retry')}
      </Button>
      <Button disabled={resolution === 'skip'} onClick={() => setAsks(true)}>
        <SkipForward aria-hidden />
        {t('why.unit.act.skip')}
      </Button>
      {resolution === null ? null : (
        <span className="text-12 text-ink-2 max-sm:order-last max-sm:w-full">
          {t(`why.unit.requested.${resolution}`)}
        </span>
      )}
      <Problem message={retry.error === null ? null : explain(retry.error).message} />
      {asks ? (
        <WordsOnDemand namespaces={['services']} onFailed={() => setAsks(false)}>
          <SkipDialog
            name={{ model, unit, vmId }}
            failure={failure}
            lines={lines}
            onClose={() => {
              setAsks(false);
              void reload();
            }}
          />
        </WordsOnDemand>
      ) : null}
    </>
  );
}

/** Releases the protected settings to the machine that is enrolled now. Only admins can do this. */
function ReleaseAct({ unit: { model, unit, thumbprint } }: { unit: ShownVmUnit }) {
  const { t } = useTranslation('reports');
  const trpc = useTRPC();
  const explain = useProblem();
  const may = useReader().can('admin');
  const release = useMutation(trpc.units.release.mutationOptions({ onSettled: useReload() }));
  if (!may) return null;
  return (
    <>
      <Button
        variant="primary"
        busy={release.isPending}
        onClick={() => release.mutate({ model, unit, thumbprint: thumbprint ?? undefined })}
      >
        <LockOpen aria-hidden />
        {t('why.unit.act.release')}
      </Button>
      <Problem message={release.error === null ? null : explain(release.error).message} />
    </>
  );
}

function Problem({ message }: { message: string | null }) {
  if (message === null) return null;
  return (
    <div role="alert" className="order-last w-full">
      <FieldError>{message}</FieldError>
    </div>
  );
}

/** Returns a function that reloads the units of the VM and its explanation. */
function useReload() {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return () =>
    Promise.all([trpc.units, trpc.instanceViews].map((part) => queries.invalidateQueries(part.pathFilter())));
}
