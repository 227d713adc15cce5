'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Num } from '#app/_ui/num.tsx';
import { Status } from '#app/_ui/status.tsx';
import { rateStatus } from './failure-rate.ts';
import type { Handler } from './handler-data.ts';

/**
 * The share of the version's VMs that have a failed extension, as a link to these VMs. A bar for each of the last 14
 * days shows the average share on that day.
 */
export function FailuresCell({ handler, version }: { handler: string; version: Handler['versions'][number] }) {
  const { t } = useTranslation('packages');
  const { failed, vms } = version;
  const share = vms === 0 ? 0 : failed / vms;
  const status = rateStatus(share);
  const figure = <Num value={share} as="percent" />;
  const address = vmsAddress({ handler, version: version.version, state: ['failed'] });
  return (
    <span className="flex items-center justify-end gap-4">
      <FailureBars version={version} tone={status} />
      <span className="inline-flex min-w-14 justify-end">
        {vms === 0 ? null : failed === 0 ? (
          <span className="text-ink-3">{figure}</span>
        ) : (
          <Link href={address} prefetch={false} data-count={failed} className="rounded-xs hover:underline">
            {status === null ? <span className="text-ink-2">{figure}</span> : <Status status={status}>{figure}</Status>}
            <span className="sr-only"> {t('column.failures')}</span>
          </Link>
        )}
      </span>
    </span>
  );
}

const tones = { failed: 'bg-failed-solid', warning: 'bg-warning-solid' };
const height = 14;

interface FailureBarsProps {
  version: Handler['versions'][number];
  tone: 'failed' | 'warning' | null;
}

/** A bar for each of the last 14 days, scaled to the worst day or, if every day was below 5%, to 5%. */
function FailureBars({ version: { version, failures }, tone }: FailureBarsProps) {
  const { t } = useTranslation('packages');
  const format = useFormat();
  if (failures.every((share) => share === null)) return null;
  const highest = Math.max(...failures.map((share) => share ?? 0));
  const top = Math.max(highest, 0.05);
  return (
    <span
      role="img"
      aria-label={t('failures.bars', { version, highest: format.percent(highest) })}
      title={t('failures.bars', { version, highest: format.percent(highest) })}
      className="inline-flex h-3.5 items-end gap-px"
    >
      {failures.map((share, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is identified by its day
          key={index}
          className={cn('w-[3px] rounded-[1px]', tone === null ? 'bg-ink-off' : tones[tone])}
          style={{ height: share === null ? 0 : Math.max(1, Math.round((share / top) * height)) }}
        />
      ))}
    </span>
  );
}
