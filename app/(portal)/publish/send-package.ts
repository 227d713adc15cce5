import { DoorError } from '#app/_lib/post-json.ts';
import { problemOfResponse } from '#app/_lib/problem.ts';

export interface Sending {
  /**
   * Resolves when the version is registered. Rejects with a `DoorError` if the portal rejects the package, a
   * `TypeError` if the portal cannot be reached, or an `AbortError` if the upload is stopped.
   */
  done: Promise<void>;
  stop(): void;
}

/** A package, and whether to copy the previous version's messages and settings schema to the new version. */
export interface PackageToSend {
  handler: string;
  version: string;
  carry: boolean;
  file: File;
}

/** Uploads the zip with `XMLHttpRequest`, because `fetch` does not report progress. */
export function sendPackage(
  { handler, version, carry, file }: PackageToSend,
  onProgress: (sent: number) => void,
): Sending {
  const request = new XMLHttpRequest();
  request.open(
    'PUT',
    `/upload/handlers/${encodeURIComponent(handler)}/versions/${encodeURIComponent(version)}/package?carry=${carry}`,
  );
  request.setRequestHeader('content-type', 'application/zip');
  request.upload.onprogress = (event) => onProgress(event.loaded);
  const done = new Promise<void>((resolve, reject) => {
    request.onload = async () => {
      if (request.status === 200 || request.status === 201) return resolve();
      const answer = new Response(request.responseText, { status: request.status });
      reject(new DoorError(await problemOfResponse(answer)));
    };
    request.onerror = () => reject(new TypeError('the portal cannot be reached'));
    request.onabort = () => reject(new DOMException('stopped', 'AbortError'));
  });
  request.send(file);
  return { done, stop: () => request.abort() };
}
