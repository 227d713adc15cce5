'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { rollOutAddress } from '../../roll-out.ts';
import type { Version } from './version-data.ts';

export interface VersionBannersProps {
  version: Version;
  justPublished: boolean;
  /** Whether VMs have an older version of the handler. */
  hasOlder: boolean;
  isFormula: boolean;
}

/** Banners about the next step after publishing, the reason for a withdrawal, and a damaged package. */
export function VersionBanners({ version, justPublished, hasOlder, isFormula }: VersionBannersProps) {
  const { t } = useTranslation('packages');
  return (
    <>
      {justPublished && version.state === 'published' ? (
        <Banner status="healthy" boxed>
          <Trans
            text={t(isFormula ? 'published.next.formula' : hasOlder ? 'published.next.older' : 'published.next')}
            tags={{
              vms: <TextLink href={hasOlder ? rollOutAddress(version.handler, version.version) : '/vms'} />,
              models: <TextLink href="/models" />,
              handler: <TextLink href={`/handlers/${version.handler}`} />,
            }}
          />
        </Banner>
      ) : null}
      {version.state === 'withdrawn' ? (
        <Banner status="disabled" boxed>
          {t(isFormula ? 'withdrawn.why.formula' : 'withdrawn.why', { reason: version.withdrawnReason ?? '' })}
        </Banner>
      ) : null}
      {version.isDamaged ? (
        <Banner status="failed" boxed>
          {t('damaged')}
        </Banner>
      ) : null}
    </>
  );
}
