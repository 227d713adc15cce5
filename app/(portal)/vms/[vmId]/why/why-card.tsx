'use client';

import { Timer } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type Ref, useCallback, useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { executionHref } from '#app/(portal)/executions/execution-href.ts';
import { jsonOf } from '../json-of.ts';
import { MarkedText, MessageText } from '../message-line.tsx';
import type { Retry } from '../retry/use-retry.ts';
import type { Membership } from '../rollouts/memberships.ts';
import { type Explanation, type InstanceDetails, type ReportedMessage, tabHref } from '../vm-data.ts';
import type { VmAct } from '../vm-dialogs.tsx';
import { type HeadlineMessage, headlineOf } from './headline-of.ts';
import { WhySentence } from './why-sentence.tsx';

/** Loaded on demand, since healthy VMs do not need it. The server renders it, so nothing moves when its script loads. */
const WhyActs = dynamic(() => import('./why-acts.tsx').then((module) => module.WhyActs));
const PartOf = dynamic(() => import('../rollouts/part-of.tsx').then((module) => module.PartOf));
const Reached = dynamic(() => import('./reached.tsx').then((module) => module.Reached), { ssr: false });

export interface WhyCardProps {
  view: InstanceDetails;
  /** The rollouts of the VM. */
  memberships: readonly Membership[];
  retry: Retry;
  onAct(act: VmAct): void;
}

/**
 * Explains why the VM is not done or is degraded: the handler's own message, the portal's sentence, and the chain of
 * steps that starts with the agent's last call. Once there is nothing left to explain, `Reached` fills the card's space
 * until the reader closes it.
 */
export function WhyCard({ view, memberships, retry, onAct }: WhyCardProps) {
  const [height, setHeight] = useState(0);
  const measure = useCallback((card: HTMLElement) => {
    const observer = new ResizeObserver(() => setHeight(card.offsetHeight));
    observer.observe(card);
    return () => observer.disconnect();
  }, []);
  const { explanation } = view;
  if (explanation !== null) {
    return <Explained ref={measure} {...{ explanation, view, memberships, retry, onAct }} />;
  }
  if (height === 0) return null;
  return (
    <div className="grid" style={{ minHeight: height }}>
      <Reached onClose={() => setHeight(0)} />
    </div>
  );
}

interface ExplainedProps extends WhyCardProps {
  ref: Ref<HTMLElement>;
  explanation: Explanation;
}

function Explained({ ref, explanation, view, memberships, retry, onAct }: ExplainedProps) {
  const { t } = useTranslation('reports');
  const id = useId();
  const { question, lead, links } = explanation;
  const headline = headlineOf(view);
  return (
    <Card ref={ref} aria-labelledby={id} className="@container overflow-hidden">
      <div className="px-4 pt-4">
        <h2 id={id} className="mb-0.5 text-12 font-medium text-ink-3">
          {t(question === 'degraded' ? 'why.title.degraded' : 'why.title')}
        </h2>
        {headline === null ? null : <Headline message={headline} />}
        <p
          className={cn('text-pretty', headline === null ? 'text-16 font-medium tracking-tight' : 'text-13 text-ink-2')}
        >
          <WhySentence sentence={lead} />
        </p>
        {memberships.length === 0 ? null : <PartOf view={view} memberships={memberships} />}
        <ol className="my-4 grid auto-cols-fr grid-flow-col @max-3xl:mt-3.5 @max-3xl:mb-1 @max-3xl:grid-flow-row">
          {links.map((link, index) => (
            <ChainLink
              key={link.kind}
              vmId={view.vmId}
              link={link}
              message={headline === null ? messageOf(view, link) : null}
              last={index === links.length - 1}
            />
          ))}
        </ol>
      </div>
      <WhyActs view={view} explanation={explanation} retry={retry} onAct={onAct} />
    </Card>
  );
}

/** The message, cut to three lines. The extension's card or the unit's page shows the whole message. */
function Headline({ message }: { message: HeadlineMessage }) {
  const isJson = jsonOf(message.text) !== undefined;
  return (
    <p
      className={cn(
        'mb-0.5 line-clamp-3 wrap-anywhere text-pretty',
        isJson ? 'mono' : 'text-16 font-medium tracking-tight',
      )}
    >
      {'source' in message ? <MarkedText message={message} /> : <MessageText message={message} />}
    </p>
  );
}

type WhyLink = Explanation['links'][number];

/** Returns the handler's message about a failed part of its status if the step is about that part; otherwise null. */
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
 * if the card is narrow.
 */
function ChainLink({ vmId, link, message, last }: ChainLinkProps) {
  const { kind, status, holds, title, detail, queueEntry, execution } = link;
  const { t } = useTranslation('reports');
  const counts = kind === 'deadline' && status !== 'failed';
  return (
    <li className="min-w-0 @max-3xl:grid @max-3xl:grid-cols-[18px_minmax(0,1fr)] @max-3xl:gap-x-3 @3xl:pe-4">
      <span className="flex items-center @max-3xl:row-span-2 @max-3xl:flex-col @max-3xl:pt-px @3xl:mb-[5px] @3xl:h-5">
        {counts ? (
          <Timer aria-hidden className="size-[18px] shrink-0 text-warning-text" />
        ) : (
          <StatusIcon status={status} className="size-[18px]" />
        )}
        {last ? null : (
          <span
            aria-hidden
            className={cn(
              'flex-1 @max-3xl:my-1 @max-3xl:border-s-[1.5px] @3xl:ms-2 @3xl:-me-2 @3xl:border-t-[1.5px]',
              holds ? 'border-line' : 'border-dashed border-line-control',
            )}
          />
        )}
      </span>
      <span className={cn('block', counts ? 'text-20 font-semibold tracking-tight tabular-nums' : 'font-medium')}>
        <WhySentence sentence={title} />
      </span>
      <span className="block text-12 text-pretty text-ink-2 tabular-nums @max-3xl:col-start-2 @max-3xl:pb-3.5">
        {message ? (
          <span className="line-clamp-4 wrap-anywhere text-ink">
            <MessageText message={message} />
          </span>
        ) : null}
        {detail ? <WhySentence sentence={detail} /> : null}
        {execution === null ? null : (
          <TextLink href={executionHref({ vmId, id: execution })} className="block w-fit">
            {t('why.turn.show')}
          </TextLink>
        )}
        {queueEntry === null ? null : (
          <TextLink href={tabHref(vmId, 'queue', queueEntry)} className="block w-fit">
            {t('why.queue')}
          </TextLink>
        )}
      </span>
    </li>
  );
}
