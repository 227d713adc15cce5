'use client';

import { useQuery } from '@tanstack/react-query';
import { ChevronLeft, ChevronRight, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { problemOf } from '#app/_lib/problem.ts';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { ExtensionCard } from '#app/(portal)/vms/[vmId]/extension-card.tsx';
import { firstError, isTail } from '#app/(portal)/vms/[vmId]/first-error.ts';
import { FirstError } from '#app/(portal)/vms/[vmId]/output/first-error-box.tsx';
import { useRetry } from '#app/(portal)/vms/[vmId]/retry/use-retry.ts';
import { useMemberships } from '#app/(portal)/vms/[vmId]/rollouts/use-memberships.ts';
import { ageMs, type Extension, type InstanceDetails } from '#app/(portal)/vms/[vmId]/vm-data.ts';
import { type VmAct, VmDialogs } from '#app/(portal)/vms/[vmId]/vm-dialogs.tsx';
import { WhyCard } from '#app/(portal)/vms/[vmId]/why/why-card.tsx';
import type { AttentionGroup } from '#server/domain/views/index.ts';
import type { OpenVm } from './attention-data.ts';
import type { ProblemVms } from './use-problem-vms.ts';

export interface SidePanelProps {
  group: AttentionGroup;
  vms: ProblemVms;
  /** The VM that is shown. */
  open: OpenVm;
  gatewayUrl: string;
  /** Shows the next or the previous VM. */
  onStep(by: 1 | -1): void;
  onClose(): void;
}

/**
 * The details of a VM that has the problem, beside the list: the reason, the extension, and the output of its last
 * command. On narrow pages, the panel covers the list.
 */
export function SidePanel({ group, vms, open, gatewayUrl, onStep, onClose }: SidePanelProps) {
  const { vmId, name } = open;
  const { t } = useTranslation('attention');
  const trpc = useTRPC();
  const view = useQuery({ ...trpc.instanceViews.get.queryOptions({ vmId }), refetchInterval: ageMs });
  const isGone = view.error !== null && problemOf(view.error).status === 404;
  return (
    <section
      aria-label={t('panel', { name })}
      className="sticky top-[calc(var(--topbar)+16px)] flex max-h-[calc(100dvh-var(--topbar)-32px)] min-w-0 flex-col gap-3 overflow-y-auto rounded-lg *:shrink-0 bg-canvas p-px max-md:fixed max-md:inset-x-0 max-md:top-(--topbar) max-md:bottom-(--tabbar) max-md:z-30 max-md:max-h-none max-md:border-t max-md:border-line max-md:p-3"
    >
      <PanelHead group={group} vms={vms} open={open} onStep={onStep} onClose={onClose} />
      {view.data ? (
        <Details key={vmId} group={group} view={view.data} at={new Date(view.dataUpdatedAt)} gatewayUrl={gatewayUrl} />
      ) : (
        <Card>
          {isGone ? (
            <EmptyState title={t('panel.gone')} />
          ) : view.error ? (
            <QueryError
              title={t('panel.failed')}
              error={view.error}
              onRetry={view.refetch}
              at={new Date(view.errorUpdatedAt)}
            />
          ) : (
            <SkeletonRows columns={['w-24', 'w-40']} rows={5} label={t('panel', { name })} />
          )}
        </Card>
      )}
    </section>
  );
}

function PanelHead({ group, vms, open: { vmId, name }, onStep, onClose }: Omit<SidePanelProps, 'gatewayUrl'>) {
  const { t } = useTranslation('attention');
  const format = useFormat();
  const at = vms.items.findIndex(({ id }) => id === vmId);
  return (
    <div className="flex items-center gap-2 px-1">
      <h2 className="min-w-0 flex-1 truncate text-14 font-semibold">
        <TextLink href={`/vms/${vmId}`} prefetch={false} translate="no">
          {name}
        </TextLink>
      </h2>
      {at < 0 ? null : (
        <span className="text-12 whitespace-nowrap text-ink-3 tabular-nums">
          {t('panel.place', { place: format.number(at + 1), total: format.number(group.vms) })}
        </span>
      )}
      <IconButton size="sm" label={t('panel.previous')} onClick={() => onStep(-1)}>
        <ChevronLeft aria-hidden className="rtl:-scale-x-100" />
      </IconButton>
      <IconButton size="sm" label={t('panel.next')} onClick={() => onStep(1)}>
        <ChevronRight aria-hidden className="rtl:-scale-x-100" />
      </IconButton>
      <IconButton size="sm" label={t('panel.close')} onClick={onClose}>
        <X aria-hidden />
      </IconButton>
    </div>
  );
}

interface DetailsProps {
  group: AttentionGroup;
  view: InstanceDetails;
  at: Date;
  gatewayUrl: string;
}

function Details({ group, view, at, gatewayUrl }: DetailsProps) {
  const { t } = useTranslation('attention');
  const [act, setAct] = useState<VmAct | null>(null);
  const retry = useRetry(view.vmId);
  const memberships = useMemberships(view.vmId, undefined);
  const extension = troubledOf(group, view);
  return (
    <>
      <WhyCard memberships={memberships.data?.items ?? []} view={view} retry={retry} onAct={setAct} />
      {view.explanation === null ? <p className="px-1 text-ink-2">{t('panel.recovered')}</p> : null}
      {extension === undefined ? null : (
        <>
          <ExtensionCard vmId={view.vmId} extension={extension} at={at} retry={retry} onAct={setAct} />
          <OutputTail extension={extension} />
        </>
      )}
      {act === null ? null : <Dialogs act={act} view={view} gatewayUrl={gatewayUrl} onClose={() => setAct(null)} />}
    </>
  );
}

/** Returns the extension that the problem is about or, if it is not found, its handler's least healthy extension. */
function troubledOf({ extension }: AttentionGroup, view: InstanceDetails): Extension | undefined {
  if (extension === null) return undefined;
  const ofHandler = view.extensions.filter(({ handler }) => handler === extension.handler);
  return ofHandler.find(({ name }) => name === extension.name) ?? ofHandler[0];
}

/** The end of the output of the extension's last command. Only operators receive it. */
function OutputTail({ extension }: { extension: Extension }) {
  const { t } = useTranslation(['attention', 'reports']);
  const output = (extension.handlerState?.outputTail ?? '').replace(/\n+$/, '');
  if (output === '') return null;
  const found = extension.handlerState?.failed ? firstError(output) : null;
  return (
    <Card>
      <CardHeader as="h3" title={t('attention:panel.output')} />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-2">
        {found ? <FirstError line={found.line} text={found.text} /> : null}
        {isTail(output) ? <p className="text-12 text-ink-3">{t('reports:output.tail')}</p> : null}
        <CodeBlock code={output} marked={found?.line} label={t('attention:panel.output')} className="max-h-72" />
      </CardBody>
    </Card>
  );
}

interface DialogsProps extends Pick<DetailsProps, 'view' | 'gatewayUrl'> {
  act: VmAct;
  onClose(): void;
}

function Dialogs({ view, ...props }: DialogsProps) {
  const trpc = useTRPC();
  const facts = useQuery(trpc.vms.get.queryOptions({ vmId: view.vmId }));
  return facts.data === undefined ? null : <VmDialogs facts={facts.data} view={view} {...props} />;
}
