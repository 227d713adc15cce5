'use client';

import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { ShownExecutionDetails } from '#app/(portal)/executions/execution-data.ts';

const ApprovalDialog = dynamic(() => import('./approval-dialog.tsx').then((module) => module.ApprovalDialog), {
  ssr: false,
});

/** Says that an execution waits for approval, with the buttons for those who may decide. */
export function ApprovalCard({ execution }: { execution: ShownExecutionDetails }) {
  const { t } = useTranslation('executions');
  const [decision, setDecision] = useState<'approve' | 'decline' | null>(null);
  return (
    <Banner
      status="waiting"
      icon={<StatusIcon status="waiting" shape="person" />}
      boxed
      actions={
        execution.mayDecide ? (
          <span className="flex flex-wrap gap-2">
            <Button onClick={() => setDecision('decline')}>{t('approval.decline')}</Button>
            <Button variant="primary" onClick={() => setDecision('approve')}>
              {t('approval.approve')}
            </Button>
          </span>
        ) : undefined
      }
    >
      <span className="min-w-0 text-pretty">
        {t(execution.mayDecide ? 'approval.yours' : 'approval.others', { name: execution.queuedBy })}
        {execution.mayDecide ? null : (
          <span className="block text-ink-2">
            {t(execution.runbook === null ? 'approval.who' : 'approval.who.runbook')}
          </span>
        )}
      </span>
      {decision === null ? null : (
        <ApprovalDialog execution={execution} decision={decision} onClose={() => setDecision(null)} />
      )}
    </Banner>
  );
}
