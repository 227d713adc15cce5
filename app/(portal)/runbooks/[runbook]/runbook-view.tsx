'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import type { ExecutionPage } from '#app/(portal)/executions/execution-data.ts';
import { PlanView } from '#app/(portal)/vms/[vmId]/executions/[executionId]/plan-view.tsx';
import { RunBar } from '../run-bar.tsx';
import type { Runbook, ShownRunbookVersion } from '../runbook-data.ts';
import { ParametersCard } from './parameters-card.tsx';
import { RunbookHeader } from './runbook-header.tsx';
import { RunsCard } from './runs-card.tsx';
import type { VersionAct } from './version-dialogs.tsx';
import { VersionsCard } from './versions-card.tsx';

const VersionDialog = dynamic(() => import('./version-dialogs.tsx').then((module) => module.VersionDialog), {
  ssr: false,
});
const ChooseVmDialog = dynamic(() => import('./choose-vm-dialog.tsx').then((module) => module.ChooseVmDialog), {
  ssr: false,
});

export interface RunbookViewProps {
  first: Runbook;
  /** The version whose plan is shown. */
  firstVersion: ShownRunbookVersion;
  firstRuns: ExecutionPage;
  /** When the server read the data above, in milliseconds since 1970. */
  readAt: number;
}

/** Shows a runbook with one of its versions, and keeps them up to date. */
export function RunbookView({ first, firstVersion, firstRuns, readAt }: RunbookViewProps) {
  const { t } = useTranslation('runbooks');
  const trpc = useTRPC();
  const reader = useReader();
  const [act, setAct] = useState<VersionAct | 'run' | null>(null);
  const { name } = first;
  const { data: runbook } = useQuery({
    ...trpc.runbooks.get.queryOptions({ name }),
    initialData: first,
    initialDataUpdatedAt: readAt,
  });
  const { data: version } = useQuery({
    ...trpc.runbooks.version.queryOptions({ name, version: firstVersion.version }),
    initialData: firstVersion,
    initialDataUpdatedAt: readAt,
  });
  const close = () => setAct(null);
  return (
    <>
      <RunbookHeader runbook={runbook} version={version} onAct={setAct} />
      <VersionNotice version={version} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_352px]">
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
          <Card>
            {version.plan === null ? (
              <>
                <CardHeader title={t('plan.title')} />
                <CardBody className="text-ink-2">{t('plan.hidden')}</CardBody>
              </>
            ) : (
              <PlanView text={version.plan} note={t('plan.version', { version: version.version })} />
            )}
          </Card>
          <RunsCard name={name} first={{ page: firstRuns, readAt }} />
        </div>
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
          <VersionsCard runbook={runbook} shown={version.version} onAct={reader.scripts ? setAct : undefined} />
          <ParametersCard version={version} />
          <Card>
            <CardHeader title={t('runs.days')} />
            <CardBody>
              <RunBar runs={runbook.runs} />
            </CardBody>
          </Card>
        </div>
      </div>
      {act === null ? null : act === 'run' ? (
        <ChooseVmDialog runbook={runbook} version={version} onClose={close} />
      ) : (
        <VersionDialog act={act} runbook={runbook} onClose={close} />
      )}
    </>
  );
}

/** Says why operators cannot run the version. Renders nothing for a published version. */
function VersionNotice({ version: { state, version, withdrawnReason } }: { version: ShownRunbookVersion }) {
  const { t } = useTranslation('runbooks');
  if (state === 'published') return null;
  return (
    <Banner status={state === 'draft' ? 'waiting' : 'warning'} boxed className="mb-4">
      <span>
        <strong className="font-medium">{t(`${state}.title`, { version })}</strong>{' '}
        {state === 'draft' ? t('draft.why') : t('withdrawn.why', { reason: withdrawnReason ?? '' })}
      </span>
    </Banner>
  );
}
