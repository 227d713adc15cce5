'use client';

import { Play } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { mayRunPlans } from '#app/_lib/may-run-plans.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';

/** A link to the page that runs a plan, for readers who may run plans. */
export function RunPlanLink({ vmId }: { vmId: string }) {
  const { t } = useTranslation('executions');
  const reader = useReader();
  if (!mayRunPlans(reader)) return null;
  return (
    <Button asChild size="sm">
      <Link href={`/vms/${vmId}/executions/new`}>
        <Play aria-hidden />
        {t('run')}
      </Link>
    </Button>
  );
}
