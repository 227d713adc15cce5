import type { Api } from './api.ts';

/** The plan of a runbook: a Bash script that waits and greets, and fails without a token or for one particular name. */
export const greetingPlan = {
  FormatVersion: '2.0.0',
  Body: "api.logInfo('greeting')\nreturn hello(args.who, args.get('seconds', 0), token=args.token).stdout",
  Scripts: { hello: { Type: 'Bash', EntryPoint: 'hello.sh', Files: [], Options: { timeout: 300 } } },
  Files: {
    'hello.sh': {
      Name: 'hello.sh',
      BodyType: 'Text',
      Body: [
        'if [ "$1" = nobody ]; then echo "no one is there" >&2; exit 3; fi',
        'if [ -z "$token" ]; then exit 4; fi',
        'echo "waiting for $2 s"',
        'sleep "$2"',
        'echo "hello $1"\n',
      ].join('\n'),
    },
  },
};

/** The runbook's parameters: a name, a number of seconds to wait, and a secret token. */
export const greetingParameters = {
  type: 'object',
  properties: {
    who: { type: 'string', title: 'Whom to greet', minLength: 1 },
    seconds: { type: 'integer', title: 'Seconds to wait', minimum: 0, default: 0 },
    token: { type: 'string', title: 'Token', writeOnly: true },
  },
  required: ['who', 'token'],
  additionalProperties: false,
};

/** Saves and publishes version 1.0.0 of a runbook. Returns its name. */
export async function publishRunbook(api: Api, name: string, title = 'Greet'): Promise<string> {
  const version = `/runbooks/${name}/versions/1.0.0`;
  await api.call('PUT', version, { body: { title, plan: greetingPlan, parameters: greetingParameters } });
  await api.call('POST', `${version}/publish`);
  return name;
}
