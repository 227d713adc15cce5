'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Download, FolderDown } from 'lucide-react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { InstanceDetails, LogArchive, VmFacts } from '../vm-data.ts';

/** Log folders of handlers, including uninstalled handlers. The agent sends a folder on request. */
export function LogFolders({ view, agentKind }: { view: InstanceDetails; agentKind: VmFacts['agentKind'] }) {
  const { t } = useTranslation('outputs');
  const trpc = useTRPC();
  const { vmId } = view;
  const archives = useQuery(trpc.outputs.archives.queryOptions({ vmId }));
  const isStock = agentKind === 'stock';
  const sent = archives.data?.items.map(({ handler }) => handler) ?? [];
  const names = new Set(
    // The stock agent cannot send logs. Earlier archives are still listed.
    isStock ? sent : [...view.extensions.map(({ handler }) => handler), ...(archives.data?.handlers ?? [])],
  );
  return (
    <Card>
      <CardHeader title={t('folders')} note={isStock ? undefined : t('folders.note')} />
      {isStock ? (
        <CardBody>
          <p className="text-ink-2">
            <Trans text={t('folders.stock')} tags={{ folder: <code translate="no" className="mono" /> }} />
          </p>
        </CardBody>
      ) : null}
      {archives.error && !archives.data ? (
        <QueryError error={archives.error} onRetry={archives.refetch} at={new Date(archives.errorUpdatedAt)} />
      ) : archives.data === undefined ? (
        <SkeletonRows columns={['w-40', 'w-24']} rows={2} label={t('loading')} />
      ) : names.size === 0 ? (
        isStock ? null : (
          <CardBody>
            <p className="text-ink-2">{t('folders.none')}</p>
          </CardBody>
        )
      ) : (
        <ul>
          {[...names].sort().map((handler) => (
            <Folder
              key={handler}
              vmId={vmId}
              handler={handler}
              archives={archives.data.items.filter((archive) => archive.handler === handler)}
              isSilent={view.agent.status !== 'ready'}
              canFetch={!isStock}
            />
          ))}
        </ul>
      )}
    </Card>
  );
}

interface FolderProps {
  vmId: string;
  handler: string;
  /** Newest first. */
  archives: readonly LogArchive[];
  isSilent: boolean;
  canFetch: boolean;
}

const shownArchives = 3;

function Folder({ vmId, handler, archives, isSilent, canFetch }: FolderProps) {
  const { t } = useTranslation('outputs');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const request = useMutation(
    trpc.outputs.requestArchive.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.outputs.archives.queryFilter({ vmId })),
    }),
  );
  const isAsked = archives.some(({ state }) => state === 'asked');
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 border-t border-line-subtle px-4 py-2.5">
      <div className="grid min-w-0 flex-[1_1_14rem] gap-1">
        <p translate="no" className="mono leading-6 wrap-anywhere">
          {handler}
        </p>
        {archives.slice(0, shownArchives).map((archive) => (
          <ArchiveLine key={archive.id} vmId={vmId} archive={archive} isSilent={isSilent} />
        ))}
        {request.error ? (
          <div role="alert">
            <FieldError>{explain(request.error).message}</FieldError>
          </div>
        ) : null}
      </div>
      {canFetch ? (
        <Button
          size="sm"
          busy={request.isPending}
          aria-disabled={isAsked || undefined}
          aria-label={t('folders.fetch.label', { handler })}
          onClick={() => {
            if (!isAsked) request.mutate({ vmId, handler });
          }}
        >
          <FolderDown aria-hidden />
          {t('folders.fetch')}
        </Button>
      ) : null}
    </li>
  );
}

function ArchiveLine({ vmId, archive, isSilent }: { vmId: string; archive: LogArchive; isSilent: boolean }) {
  const { t } = useTranslation('outputs');
  const format = useFormat();
  const { id, handler, state, requestedAt, requestedBy, answeredAt, size } = archive;
  const time = <RelativeTime value={new Date(answeredAt ?? requestedAt)} />;
  if (state === 'there') {
    return (
      <p className="flex flex-wrap items-center gap-x-2 text-12 text-ink-2">
        <a
          href={`/download/vms/${vmId}/log-archives/${id}`}
          download
          aria-label={t('folders.download', { handler })}
          className="inline-flex min-h-6 items-center gap-1 text-brand-text hover:underline"
        >
          <Download aria-hidden className="size-3.5" />
          {t('download')}
        </a>
        <span className="tabular-nums">{format.bytes(size ?? 0)}</span>
        <span>
          <Trans text={t('folders.there')} tags={{ time }} />
        </span>
      </p>
    );
  }
  const text =
    state === 'asked'
      ? t(isSilent ? 'folders.askedSilent' : 'folders.asked', { who: requestedBy })
      : t(state === 'empty' ? 'folders.empty' : 'folders.late');
  return (
    <p role={state === 'asked' ? 'status' : undefined} className="text-12 leading-6 text-ink-2">
      <Trans text={text} tags={{ time }} />
    </p>
  );
}
