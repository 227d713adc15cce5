'use client';

import { useQuery } from '@tanstack/react-query';
import { Play, Repeat, SquareTerminal, Undo2 } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { CardFooter } from '#app/_ui/card.tsx';
import { RetryButton } from '../retry/retry-button.tsx';
import { retryTarget } from '../retry/retryable.ts';
import type { Retry } from '../retry/use-retry.ts';
import { type Explanation, editHref, type InstanceDetails, tabHref } from '../vm-data.ts';
import type { VmAct } from '../vm-dialogs.tsx';
import { isAboutUnit } from './is-about-unit.ts';

/** Loaded on demand, since few problems need it. The server renders it, so nothing moves when its script loads. */
const RetryNote = dynamic(() => import('../retry/retry-note.tsx').then((module) => module.RetryNote));

/** Loaded on demand for the same reason. */
const CancelExecution = dynamic(() =>
  import('#app/(portal)/executions/cancel-buttons.tsx').then((module) => module.CancelExecution),
);

/** Loaded on demand, since few VMs have units. */
const UnitActs = dynamic(() => import('./unit-acts.tsx').then((module) => module.UnitActs));

export interface WhyActsProps {
  view: InstanceDetails;
  explanation: Explanation;
  retry: Retry;
  onAct(act: VmAct): void;
}

/** The footer of the “why” card: the reader's actions, the most useful one first, and the scheduled retries. */
export function WhyActs(props: WhyActsProps) {
  const { view, explanation } = props;
  if (isAboutUnit(explanation)) return <UnitActs vmId={view.vmId} unit={explanation.extension} />;
  return <ExtensionActs {...props} />;
}

function ExtensionActs({ view, explanation, retry, onAct }: WhyActsProps) {
  const { t } = useTranslation('reports');
  const reader = useReader();
  const { act } = explanation;
  const about = view.extensions.find(({ name }) => name === (act?.extension ?? explanation.extension));
  const isSilent = view.agent.status === 'unresponsive';
  const isRequested = about !== undefined && retry.isRequested(about);
  const problem = retry.problem !== null && retry.problem.name === about?.name ? retry.problem.message : null;
  const mayAct = reader.can('operator');
  const running = explanation.links.find(({ execution }) => execution !== null)?.execution ?? null;
  const canAct = act === null ? view.agent.hold !== null : act.editable || act.hasOutput;
  const hasButtons = mayAct && (running !== null || canAct);
  if (!hasButtons && !isSilent && !isRequested && !about?.retries) return null;
  return (
    <CardFooter className="max-sm:[&>a,&>button]:flex-[1_1_40%]">
      {mayAct && act !== null ? <CauseActs view={view} act={act} retry={retry} onAct={onAct} /> : null}
      {mayAct && act === null && view.agent.hold !== null ? (
        <Button onClick={() => onAct({ kind: 'release-hold' })}>
          <Play aria-hidden />
          {t('why.release.hold')}
        </Button>
      ) : null}
      {mayAct && running !== null ? (
        <CancelExecution vmId={view.vmId} executionId={running} label={t('why.turn.cancel')} />
      ) : null}
      {isSilent || isRequested ? (
        <span className="text-12 text-ink-2">{t(isSilent ? 'why.silent.note' : 'retry.requested')}</span>
      ) : null}
      {problem === null ? null : (
        <span role="alert" className="text-12 text-failed-text">
          {problem}
        </span>
      )}
      {about?.retries ? <RetryNote vmId={view.vmId} name={about.name} retries={about.retries} /> : null}
    </CardFooter>
  );
}

interface CauseActsProps extends Omit<WhyActsProps, 'explanation'> {
  act: NonNullable<Explanation['act']>;
}

function CauseActs({ view, act, retry, onAct }: CauseActsProps) {
  const { t } = useTranslation('reports');
  const trpc = useTRPC();
  const target = retryTarget(view);
  const isSilent = view.agent.status === 'unresponsive';
  const found = useQuery({
    ...trpc.goalStates.revertTarget.queryOptions({ vmId: view.vmId, name: act.extension }),
    enabled: act.failed,
  });
  const goalState = act.failed ? (found.data?.incarnation ?? null) : null;
  return (
    <>
      {target === null ? null : (
        <RetryButton extension={target} retry={retry} variant={isSilent ? 'default' : 'primary'} />
      )}
      {act.editable ? (
        <Button asChild variant={act.failed && target === null ? 'primary' : 'default'}>
          <Link href={editHref(view.vmId, act.extension)}>{t('why.edit', { name: act.extension })}</Link>
        </Button>
      ) : null}
      {act.hasOutput ? (
        <Button asChild>
          <Link href={tabHref(view.vmId, 'output', act.extension)}>
            <SquareTerminal aria-hidden />
            {t('why.output')}
          </Link>
        </Button>
      ) : null}
      {goalState === null ? null : (
        <Button onClick={() => onAct({ kind: 'revert', incarnation: goalState })}>
          <Undo2 aria-hidden />
          {t('why.revert', { incarnation: goalState })}
        </Button>
      )}
      {target === null || target.retries !== null ? null : (
        <Button
          variant="ghost"
          onClick={() => onAct({ kind: 'retry', name: target.name, sequenceNumber: target.goalSequenceNumber })}
        >
          <Repeat aria-hidden />
          {t('retry.repeat')}
        </Button>
      )}
    </>
  );
}
