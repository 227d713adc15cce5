'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Plus, Upload } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { FirstSteps as Steps } from '#server/domain/views/index.ts';

/**
 * Shown on a new portal: the three steps to the first running extension. Marks completed steps and offers the next
 * action.
 */
export function FirstSteps({ steps, onEnroll }: { steps: Steps; onEnroll(): void }) {
  const { t } = useTranslation(['overview', 'vms']);
  const { can } = useReader();
  const { published, enrolled, added, vm } = steps;
  return (
    <Card aria-labelledby="first-steps" className="mb-4">
      <CardHeader id="first-steps" title={t('overview:first.title')} note={t('overview:first.note')} />
      <ol className="border-t border-line-subtle">
        <Step done={published} title={t('overview:first.publish')} why={t('overview:first.publish.why')}>
          {can('publisher') ? <Publish /> : <Missing>{t('overview:first.publish.others')}</Missing>}
        </Step>
        <Step done={enrolled} title={t('overview:first.enroll')} why={t('overview:first.enroll.why')}>
          {!can('operator') ? (
            <Missing>{t('overview:first.operators')}</Missing>
          ) : vm === null ? (
            <Button variant={published || !can('admin') ? 'primary' : 'default'} onClick={onEnroll}>
              <Plus aria-hidden />
              {t('vms:enroll')}
            </Button>
          ) : (
            <Button asChild>
              <Link href={`/vms/${vm.id}`}>{t('overview:first.enroll.open', { name: vm.name })}</Link>
            </Button>
          )}
        </Step>
        <Step done={added} title={t('overview:first.add')} why={t('overview:first.add.why')}>
          {!can('operator') ? (
            <Missing>{t('overview:first.operators')}</Missing>
          ) : published && vm !== null ? (
            <Button asChild variant={enrolled ? 'primary' : 'default'}>
              <Link href={`/vms/${vm.id}/add-extension`}>
                <Plus aria-hidden />
                {t('overview:first.add.act', { name: vm.name })}
              </Link>
            </Button>
          ) : (
            <Missing>{t('overview:first.add.later')}</Missing>
          )}
        </Step>
      </ol>
    </Card>
  );
}

interface StepProps {
  done: boolean;
  title: string;
  why: string;
  /** The next action, shown until the step is done. */
  children: ReactNode;
}

function Step({ done, title, why, children }: StepProps) {
  const { t } = useTranslation('overview');
  return (
    <li
      data-st={done ? 'healthy' : 'waiting'}
      className="flex gap-x-3 border-b border-line-subtle px-4 py-3 last:border-b-0"
    >
      <span className="pt-0.5 [&>svg]:text-st-text">
        <StatusIcon status={done ? 'healthy' : 'waiting'} />
      </span>
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-2">
        <div className="min-w-0 flex-[1_1_16rem]">
          <h3 className="text-13 font-medium">{title}</h3>
          <p className="text-12 text-ink-3">{done ? t('first.done') : why}</p>
        </div>
        {done ? null : <div className="flex flex-wrap items-center gap-2">{children}</div>}
      </div>
    </li>
  );
}

function Missing({ children }: { children: ReactNode }) {
  return <p className="text-12 text-ink-2">{children}</p>;
}

/**
 * A link to the page for publishing a handler and, for readers who may create the sample's namespace, a button that
 * publishes the sample.
 */
function Publish() {
  const { t } = useTranslation('overview');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const publish = useMutation(
    trpc.packages.publishSample.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.overview.firstSteps.pathFilter()),
    }),
  );
  return (
    <>
      {useReader().can('admin') ? (
        <Button variant="primary" busy={publish.isPending} onClick={() => publish.mutate()}>
          {t('first.publish.sample')}
        </Button>
      ) : null}
      <Button asChild>
        <Link href="/publish">
          <Upload aria-hidden />
          {t('first.publish.own')}
        </Link>
      </Button>
      {publish.error ? (
        <div role="alert" className="basis-full">
          <FieldError>{explain(publish.error).message}</FieldError>
        </div>
      ) : null}
    </>
  );
}
