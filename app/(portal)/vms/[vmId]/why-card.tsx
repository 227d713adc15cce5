'use client';

import { useQuery } from '@tanstack/react-query';
import { Play, SquareTerminal, Timer, Undo2 } from 'lucide-react';
import Link from 'next/link';
import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardFooter } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { MessageText } from './message-line.tsx';
import { type Explanation, editHref, type InstanceDetails, type ReportedMessage, tabHref } from './vm-data.ts';
import { WhySentence } from './why-sentence.tsx';

export interface WhyCardProps {
  view: InstanceDetails;
  onRevert(incarnation: number): void;
  onRelease(): void;
}

/**
 * Why the VM is not done: the chain from the agent's last call to the step that would help. Hidden if there is nothing
 * to explain.
 */
export function WhyCard({ view, onRevert, onRelease }: WhyCardProps) {
  const { t } = useTranslation('reports');
  const id = useId();
  const reader = useReader();
  const { explanation } = view;
  if (explanation === null) return null;
  const { question, lead, links, act } = explanation;
  return (
    <Card aria-labelledby={id} className="overflow-hidden">
      <div className="px-4 pt-4">
        <h2 id={id} className="mb-0.5 text-12 font-medium text-ink-3">
          {t(question === 'degraded' ? 'why.title.degraded' : 'why.title')}
        </h2>
        <p className="text-16 font-medium tracking-tight text-pretty">
          <WhySentence sentence={lead} />
        </p>
        <ol className="my-4 grid auto-cols-fr grid-flow-col max-md:mt-3.5 max-md:mb-1 max-md:grid-flow-row">
          {links.map((link, index) => (
            <ChainLink
              key={link.kind}
              vmId={view.vmId}
              link={link}
              message={messageOf(view, link)}
              last={index === links.length - 1}
            />
          ))}
        </ol>
      </div>
      {act && reader.can('operator') ? (
        <WhyActs view={view} act={act} onRevert={onRevert} />
      ) : view.agent.hold !== null && reader.can('operator') ? (
        <CardFooter>
          <Button onClick={onRelease}>
            <Play aria-hidden />
            {t('why.release.hold')}
          </Button>
        </CardFooter>
      ) : view.agent.status === 'unresponsive' ? (
        <CardFooter>
          <span className="text-12 text-ink-2">{t('why.silent.note')}</span>
        </CardFooter>
      ) : null}
    </Card>
  );
}

type WhyLink = Explanation['links'][number];

/** Returns the handler's message if a step of the chain is about a failed part of its status. */
function messageOf(view: InstanceDetails, { title, extension }: WhyLink): ReportedMessage | null {
  if (title.code !== 'part' && title.code !== 'part.unnamed') return null;
  return view.extensions.find(({ name }) => name === extension)?.failedPart?.message ?? null;
}

interface ChainLinkProps {
  vmId: string;
  link: WhyLink;
  message: ReportedMessage | null;
  last: boolean;
}

/**
 * A step of the chain. The line to the next step is solid if this step works, otherwise dashed. The chain is vertical
 * on narrow pages.
 */
function ChainLink({ vmId, link, message, last }: ChainLinkProps) {
  const { kind, status, holds, title, detail, queueEntry } = link;
  const { t } = useTranslation('reports');
  const counts = kind === 'deadline' && status !== 'failed';
  return (
    <li className="min-w-0 max-md:grid max-md:grid-cols-[18px_minmax(0,1fr)] max-md:gap-x-3 md:pe-4">
      <span className="flex items-center max-md:row-span-2 max-md:flex-col max-md:pt-px md:mb-[5px] md:h-5">
        {counts ? (
          <Timer aria-hidden className="size-[18px] shrink-0 text-warning-text" />
        ) : (
          <StatusIcon status={status} className="size-[18px]" />
        )}
        {last ? null : (
          <span
            aria-hidden
            className={cn(
              'flex-1 max-md:my-1 max-md:border-s-[1.5px] md:ms-2 md:-me-2 md:border-t-[1.5px]',
              holds ? 'border-line' : 'border-dashed border-line-control',
            )}
          />
        )}
      </span>
      <span className={cn('block', counts ? 'text-20 font-semibold tracking-tight tabular-nums' : 'font-medium')}>
        <WhySentence sentence={title} />
      </span>
      <span className="block text-12 text-pretty text-ink-2 tabular-nums max-md:col-start-2 max-md:pb-3.5">
        {message ? (
          <span className="line-clamp-4 wrap-anywhere text-ink">
            <MessageText message={message} />
          </span>
        ) : null}
        {detail ? <WhySentence sentence={detail} /> : null}
        {queueEntry === null ? null : (
          <TextLink href={tabHref(vmId, 'queue', queueEntry)} className="block w-fit">
            {t('why.queue')}
          </TextLink>
        )}
      </span>
    </li>
  );
}

type Act = NonNullable<Explanation['act']>;

function WhyActs({ view, act, onRevert }: { view: InstanceDetails; act: Act; onRevert(incarnation: number): void }) {
  const { t } = useTranslation('reports');
  const trpc = useTRPC();
  const found = useQuery({
    ...trpc.goalStates.revertTarget.queryOptions({ vmId: view.vmId, name: act.extension }),
    enabled: act.failed,
  });
  const target = act.failed ? (found.data?.incarnation ?? null) : null;
  const isSilent = view.agent.status === 'unresponsive';
  if (!act.editable && !act.hasOutput && !isSilent) return null;
  return (
    <CardFooter className="max-sm:[&>a,&>button]:flex-[1_1_40%]">
      {act.editable ? (
        <Button asChild variant={act.failed ? 'primary' : 'default'}>
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
      {target === null ? null : (
        <Button onClick={() => onRevert(target)}>
          <Undo2 aria-hidden />
          {t('why.revert', { incarnation: target })}
        </Button>
      )}
      {isSilent || (act.failed && act.editable) ? (
        <span className="text-12 text-ink-2">{t(isSilent ? 'why.silent.note' : 'why.note')}</span>
      ) : null}
    </CardFooter>
  );
}
