'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { LockOpen, RotateCw, SkipForward, SquareTerminal } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { CardFooter } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { modelHref } from '../../../model-data.ts';
import { relationHref, serviceHref } from '../../services/service-data.ts';
import { canRunAgain } from '../due-lines.ts';
import type { ShownFailure } from '../unit-data.ts';
import type { UnitWhyProps } from './unit-why-props.ts';

/** What to do about a unit that is not done. */
export function WhyActs(props: UnitWhyProps) {
  const { t } = useTranslation('services');
  const may = useReader().can('operator');
  const { name, why, onAct, onShowRun } = props;
  switch (why.kind) {
    case 'failing':
      return <FailingActs {...props} failure={why.failure} />;
    case 'release':
      return <ReleaseActs {...props} />;
    case 'running':
      return (
        <CardFooter>
          <Button onClick={() => onShowRun(why.run.id)}>
            <SquareTerminal aria-hidden />
            {t('unit.act.output')}
          </Button>
        </CardFooter>
      );
    case 'enroll':
      return may ? (
        <CardFooter>
          <Button variant="primary" onClick={() => onAct({ kind: 'enroll' })}>
            {t('unit.act.enroll')}
          </Button>
        </CardFooter>
      ) : null;
    case 'relation':
      return (
        <CardFooter>
          <Button asChild>
            <Link href={modelHref(name.model)}>{t('unit.act.model')}</Link>
          </Button>
        </CardFooter>
      );
    case 'skipped':
      return (
        <CardFooter>
          <Button asChild>
            <Link href={serviceHref(name.model, props.unit.service)}>
              {t('needs.open', { name: props.unit.service })}
            </Link>
          </Button>
        </CardFooter>
      );
    case 'silent':
      return (
        <CardFooter>
          <Button asChild>
            <Link href={`/vms/${name.vmId}`}>{t('unit.act.machine')}</Link>
          </Button>
        </CardFooter>
      );
    default:
      return null;
  }
}

function FailingActs(props: UnitWhyProps & { failure: ShownFailure }) {
  const { name, failure, lines, isDueKnown, onAct, onShowRun } = props;
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const may = useReader().can('operator');
  const { run, relation, remoteUnit, resolution } = failure;
  const retry = useMutation(
    trpc.units.resolve.mutationOptions({ onSettled: () => queries.invalidateQueries(trpc.units.pathFilter()) }),
  );
  const isDue = canRunAgain(isDueKnown ? lines : undefined, failure);
  return (
    <CardFooter className="max-sm:[&>a,&>button]:flex-[1_1_40%]">
      {may && isDue ? (
        <>
          <Button
            variant="primary"
            busy={retry.isPending}
            disabled={resolution === 'retry'}
            onClick={() => retry.mutate({ model: name.model, unit: name.unit, run, retry: true })}
          >
            <RotateCw aria-hidden />
            {t('unit.act.retry')}
          </Button>
          <Button disabled={resolution === 'skip' || !isDueKnown} onClick={() => onAct({ kind: 'skip', failure })}>
            <SkipForward aria-hidden />
            {t('unit.act.skip')}
          </Button>
        </>
      ) : null}
      <Button onClick={() => onShowRun(run)}>
        <SquareTerminal aria-hidden />
        {t('unit.act.output')}
      </Button>
      {relation === null || remoteUnit === null ? null : (
        <Button asChild>
          <Link href={relationHref(name.model, relation.number)}>{t('unit.act.data', { unit: remoteUnit })}</Link>
        </Button>
      )}
      {relation === null || remoteUnit === null || !isDue ? null : (
        <span className="text-12 text-ink-2 max-sm:w-full">{t('unit.why.newValue', { unit: remoteUnit })}</span>
      )}
      {retry.error === null ? null : (
        <div role="alert" className="w-full">
          <FieldError>{explain(retry.error).message}</FieldError>
        </div>
      )}
    </CardFooter>
  );
}

/** Releases the protected settings to the machine that the page shows. Only admins can do this. */
function ReleaseActs({ name, unit }: UnitWhyProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const release = useMutation(
    trpc.units.release.mutationOptions({ onSettled: () => queries.invalidateQueries(trpc.units.pathFilter()) }),
  );
  if (!useReader().can('admin')) return null;
  const thumbprint = unit.thumbprint ?? undefined;
  return (
    <CardFooter>
      <Button
        variant="primary"
        busy={release.isPending}
        onClick={() => release.mutate({ model: name.model, unit: name.unit, thumbprint })}
      >
        <LockOpen aria-hidden />
        {t('unit.act.release')}
      </Button>
      {release.error === null ? null : (
        <div role="alert" className="w-full">
          <FieldError>{explain(release.error).message}</FieldError>
        </div>
      )}
    </CardFooter>
  );
}
