'use client';

import { CircleCheck, SquareTerminal } from 'lucide-react';
import type { ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { RunBar } from '#app/(portal)/runbooks/run-bar.tsx';
import { type Runbook, runbookHref, type ShownRunbookVersion } from '#app/(portal)/runbooks/runbook-data.ts';
import { readPlan } from '../[executionId]/read-plan.ts';

/** What a version of a runbook runs, who published it, and how the runbook's recent executions ended. */
export function RunsWhatCard({ runbook, version }: { runbook: Runbook; version: ShownRunbookVersion }) {
  const { t } = useTranslation('runbooks');
  const scripts = version.plan === null ? [] : (readPlan(version.plan)?.scripts ?? []);
  return (
    <Card>
      <CardHeader
        title={t('what.title')}
        actions={<TextLink href={runbookHref(runbook.name, version.version)}>{t('what.plan')}</TextLink>}
      />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-2">
        <Line icon={<SquareTerminal aria-hidden className="size-4 text-ink-3" />}>
          {scripts.length === 0
            ? t('what.body')
            : t('what.scripts', { count: scripts.length, names: scripts.map(({ name }) => name).join(', ') })}
        </Line>
        {version.publishedAt === null ? null : (
          <Line icon={<CircleCheck aria-hidden className="size-4 text-ink-3" />}>
            <Trans
              text={t('what.published', { name: version.publishedBy ?? '' })}
              tags={{
                who: <span translate="no" />,
                time: <DateTime value={new Date(version.publishedAt)} />,
              }}
            />
          </Line>
        )}
        <div className="-mx-4 mt-1 grid gap-1.5 border-t border-line-subtle px-4 pt-3">
          <span className="text-12 text-ink-2">{t('runs.days')}</span>
          <RunBar runs={runbook.runs} />
        </div>
      </CardBody>
    </Card>
  );
}

function Line({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <p className="flex items-start gap-2">
      <span className="flex h-5 shrink-0 items-center">{icon}</span>
      <span className="min-w-0 wrap-anywhere">{children}</span>
    </p>
  );
}
