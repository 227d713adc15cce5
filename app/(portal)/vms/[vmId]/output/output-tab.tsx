'use client';

import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { firstError, isTail } from '../first-error.ts';
import type { CommandOutput, Extension, InstanceDetails, VmFacts } from '../vm-data.ts';
import { EarlierOutputs } from './earlier-outputs.tsx';
import { FirstError } from './first-error-box.tsx';
import { LogFolders } from './log-folders.tsx';
import { DownloadOutput, WholeOutput } from './whole-output.tsx';

const pageSize = 50;

/**
 * Command outputs: the latest output of each extension, starting with the least healthy extension, then all earlier
 * outputs. Also shows the log folders.
 */
export function OutputTab({ view, agentKind }: { view: InstanceDetails; agentKind: VmFacts['agentKind'] }) {
  const { t } = useTranslation('reports');
  const trpc = useTRPC();
  const outputs = useInfiniteQuery(
    trpc.outputs.list.infiniteQueryOptions(
      { vmId: view.vmId, limit: pageSize },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
  );
  const all = outputs.data?.pages.flatMap((page) => page.items) ?? [];
  const cards = view.extensions
    .map((extension) => ({ extension, whole: outputOf(extension, all) }))
    .filter(({ extension, whole }) => whole !== undefined || extension.handlerState?.outputTail);
  const shown = new Set(cards.map(({ whole }) => whole?.id));
  // The cards are rendered after the URL changes, too late for the browser to scroll to the card in the fragment.
  const isThere = cards.length > 0;
  useEffect(() => {
    if (isThere) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  }, [isThere]);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      {outputs.error && !outputs.data ? (
        <Card>
          <QueryError
            error={outputs.error}
            title={t('output.failed')}
            onRetry={outputs.refetch}
            at={new Date(outputs.errorUpdatedAt)}
          />
        </Card>
      ) : null}
      {cards.map(({ extension, whole }) => (
        <Output key={extension.name} vmId={view.vmId} extension={extension} whole={whole} />
      ))}
      {all.length > 0 || cards.length > 0 || outputs.data === undefined ? null : (
        <Card>
          <EmptyState title={t('output.empty')}>
            <p>{t('output.empty.why')}</p>
          </EmptyState>
        </Card>
      )}
      <EarlierOutputs
        vmId={view.vmId}
        outputs={all.filter(({ id }) => !shown.has(id))}
        more={
          outputs.hasNextPage
            ? { isBusy: outputs.isFetchingNextPage, read: () => void outputs.fetchNextPage() }
            : undefined
        }
      />
      <LogFolders view={view} agentKind={agentKind} />
    </div>
  );
}

/** Returns the stored output of the last reported command; undefined if there is none. */
function outputOf({ name, handlerState }: Extension, all: readonly CommandOutput[]): CommandOutput | undefined {
  if (handlerState === null) return undefined;
  const { command, sequenceNumber, attempt } = handlerState;
  return all.find(
    (output) =>
      output.extension === name &&
      output.sequenceNumber === sequenceNumber &&
      output.command === command &&
      (attempt === null || output.attempt === attempt),
  );
}

interface OutputProps {
  vmId: string;
  extension: Extension;
  whole: CommandOutput | undefined;
}

function Output({ vmId, extension, whole }: OutputProps) {
  const { t } = useTranslation('reports');
  const { name, handlerState } = extension;
  if (handlerState === null) return null;
  const output = (handlerState.outputTail ?? '').replace(/\n+$/, '');
  const { exitCode, timedOut, failed, attempt, command, at } = handlerState;
  const label = t('output.title', { name, command: command ?? '' });
  return (
    <Card id={`output-${name}`} className="scroll-mt-8">
      <CardHeader
        title={label}
        note={
          <span className="flex flex-wrap gap-x-2 tabular-nums">
            {timedOut ? <span>{t('output.timedOut')}</span> : null}
            {exitCode === null ? null : <span>{t('output.exit', { exit: exitCode })}</span>}
            {(attempt ?? 0) > 1 ? <span>{t('card.attempt', { attempt: attempt ?? 0 })}</span> : null}
            {at === null ? null : <DateTime value={new Date(at)} style="time" />}
          </span>
        }
        actions={
          whole === undefined ? (
            <CopyButton text={output} label={t('output.copy', { name })} />
          ) : (
            <DownloadOutput vmId={vmId} output={whole} />
          )
        }
      />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-2">
        {whole === undefined ? (
          <Tail output={output} failed={failed} label={label} />
        ) : (
          <WholeOutput vmId={vmId} outputId={whole.id} failed={failed} label={label} />
        )}
      </CardBody>
    </Card>
  );
}

/** The last lines of an output, as a report contains them. */
function Tail({ output, failed, label }: { output: string; failed: boolean; label: string }) {
  const { t } = useTranslation('reports');
  const found = failed ? firstError(output) : null;
  return (
    <>
      {found ? <FirstError line={found.line} text={found.text} /> : null}
      {isTail(output) ? <p className="text-12 text-ink-3">{t('output.tail')}</p> : null}
      <CodeBlock code={output} marked={found?.line} label={label} className="max-h-96" />
    </>
  );
}
