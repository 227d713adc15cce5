'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { Num } from '#app/_ui/num.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { platformsText } from '#protocol/platform.ts';
import { IdentityAndFacts } from '../../identity-and-facts.tsx';
import { VmsLink } from '../../vms-link.tsx';
import type { Handler } from '../handler-data.ts';
import type { Version } from './version-data.ts';

/** The number of VMs with the version in their goal state, and the number of VMs that last reported it. */
type Use = Pick<Handler['versions'][number], 'vms' | 'running'>;

interface VersionFactsProps {
  version: Version;
  use: Use | undefined;
  isFormula: boolean;
}

/** The number of VMs, size, digest, upload, platforms and publication of a version. */
export function VersionFacts({ version, use, isFormula }: VersionFactsProps) {
  const { t } = useTranslation('packages');
  const { handler, version: number } = version;
  const assigned = {
    label: t('fact.on'),
    value:
      use === undefined || use.vms === 0 ? (
        t('fact.noVm')
      ) : (
        <VmsLink filter={{ handler, version: number }} vms={use.vms} />
      ),
  };
  return (
    <IdentityAndFacts
      identity={`${version.handler}-${version.version}`}
      items={[
        ...(isFormula ? [] : [assigned]),
        ...(use !== undefined && use.running > 0
          ? [
              {
                label: t('column.running'),
                value: <VmsLink filter={{ handler, running: number }} vms={use.running} />,
              },
            ]
          : []),
        { label: t('fact.size'), value: <Num value={version.size} as="bytes" /> },
        {
          label: t('fact.digest'),
          value: (
            <span className="inline-flex items-center gap-1">
              <span translate="no" className="mono" title={version.sha256}>
                {version.sha256.slice(0, 12)}
              </span>
              <CopyButton text={version.sha256} label={t('fact.copyDigest')} className="-my-1" />
            </span>
          ),
        },
        {
          label: t('fact.uploaded'),
          value: (
            <>
              <DateTime value={new Date(version.createdAt)} /> {t('fact.by', { who: version.createdBy })}
            </>
          ),
        },
        ...(version.platforms.length > 0
          ? [{ label: t('fact.platforms'), value: <span translate="no">{platformsText(version.platforms)}</span> }]
          : []),
        ...(version.publishedAt
          ? [{ label: t('fact.published'), value: <DateTime value={new Date(version.publishedAt)} /> }]
          : []),
      ]}
    />
  );
}
