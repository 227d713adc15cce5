import { Trans } from '#app/_lib/i18n/client.tsx';
import { words } from '#app/_lib/i18n/server.ts';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { Status } from '#app/_ui/status.tsx';
import { Tag } from '#app/_ui/tag.tsx';
import { Row, Rows } from '../account/rows.tsx';

type Role = 'viewer' | 'operator' | 'publisher' | 'admin';

export interface ProviderCardProps {
  provider: {
    name: string;
    issuer: string;
    clientId: string;
    isAway: boolean;
    redirectUri: string;
    joinAs: Role | null;
    emailDomains: readonly string[];
    roles: { claim: string; of: readonly { group: string; role: Role }[] } | null;
  } | null;
}

/** The OpenID provider and whether it responds. The provider is configured with environment variables. */
export async function ProviderCard({ provider }: ProviderCardProps) {
  const [{ t }, common] = await Promise.all([words('settings'), words('common')]);
  if (provider === null) {
    return (
      <Card>
        <EmptyState title={t('provider.none')}>
          <p>
            <Trans text={t('provider.none.why')} tags={{ code: <code className="mono" /> }} />
          </p>
        </EmptyState>
      </Card>
    );
  }
  const { name, issuer, clientId, isAway, redirectUri, joinAs, emailDomains, roles } = provider;
  return (
    <Card>
      <CardHeader title={t('provider')} note={t('provider.note')} />
      <Rows>
        <Row label={t('name')} note={isAway ? t('provider.away.next') : undefined}>
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            {name}
            <Status status={isAway ? 'failed' : 'healthy'}>{t(isAway ? 'provider.away' : 'provider.answers')}</Status>
          </span>
        </Row>
        <Row label={t('provider.issuer')}>
          <span translate="no" className="mono">
            {issuer}
          </span>
        </Row>
        <Row label={t('provider.clientId')}>
          <span translate="no" className="mono">
            {clientId}
          </span>
        </Row>
        <Row label={t('provider.redirect')} note={t('provider.redirect.why')}>
          <CopyCommand command={redirectUri} whole />
        </Row>
        <Row label={t('provider.join')}>
          {joinAs === null ? t('provider.join.invited') : t('provider.join.all', { role: common.t(`role.${joinAs}`) })}
        </Row>
        {emailDomains.length === 0 ? null : (
          <Row label={t('provider.domains')}>
            <span className="flex flex-wrap gap-1">
              {emailDomains.map((domain) => (
                <Tag key={domain}>{domain}</Tag>
              ))}
            </span>
          </Row>
        )}
        {roles === null ? null : (
          <Row
            label={t('provider.roles')}
            note={
              <Trans
                text={t('provider.roles.why', { claim: roles.claim })}
                tags={{ code: <code className="mono" /> }}
              />
            }
          >
            <span className="flex flex-wrap gap-1">
              {roles.of.map(({ group, role }) => (
                <Tag key={group} name={group}>
                  {common.t(`role.${role}`)}
                </Tag>
              ))}
            </span>
          </Row>
        )}
      </Rows>
    </Card>
  );
}
