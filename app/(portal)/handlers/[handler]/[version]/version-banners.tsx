'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { Version } from './version-data.ts';

export interface VersionBannersProps {
  version: Version;
  justPublished: boolean;
}

/** Banners about the next step after publishing, the reason for a withdrawal, and a damaged package. */
export function VersionBanners({ version, justPublished }: VersionBannersProps) {
  const { t } = useTranslation('packages');
  return (
    <>
      {justPublished && version.state === 'published' ? (
        <Banner status="healthy" boxed>
          <Trans
            text={t('published.next')}
            tags={{ vms: <TextLink href="/vms" />, handler: <TextLink href={`/handlers/${version.handler}`} /> }}
          />
        </Banner>
      ) : null}
      {version.state === 'withdrawn' ? (
        <Banner status="disabled" boxed>
          {t('withdrawn.why', { reason: version.withdrawnReason ?? '' })}
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
