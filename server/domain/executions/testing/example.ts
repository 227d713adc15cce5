/** The example plan of docs/protocol.md. */
export const examplePlan = {
  FormatVersion: '2.0.0',
  Action: 'Execute',
  Name: 'Hello',
  Version: '1.0.0',
  Service: 'web',
  Body: "api.logInfo('renewing')\nreturn hello(args.who).stdout",
  Parameters: { who: 'w' },
  Scripts: {
    hello: {
      Type: 'Application',
      Version: '1.0.0',
      EntryPoint: 'f1',
      Files: [],
      Options: { captureStdout: true, captureStderr: true, verifyExitcode: true },
    },
  },
  Files: { f1: { Name: 'hello.sh', BodyType: 'Text', Body: '#!/bin/sh\necho hello $1\n' } },
};

/** Returns the result of a successful plan. */
export const resultOf = (SourceID: string, more: object = {}) => ({
  FormatVersion: '2.0.0',
  ID: '6f1c2b7a9d3e4f50a1b2c3d4e5f60718',
  SourceID,
  Action: 'Execute:Result',
  ErrorCode: 0,
  Body: 'hello w',
  Time: '2026-11-22T09:15:04.120Z',
  ...more,
});
