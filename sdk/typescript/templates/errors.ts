/** What can go wrong. */

/**
 * The server refused or failed: an answer of 4xx or 5xx, or an error within a stream, which has no status. Statuses
 * have classes of their own.
 */
export class ApiError extends Error {
  override readonly name: string = "ApiError";
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly param: string | undefined;
  readonly code: string | number | undefined;
  /** The answer, as JSON where it is some. */
  readonly body: unknown;
  readonly headers: Headers;

  constructor(body: unknown, status?: number, headers: Headers = new Headers()) {
    const said = errorIn(body);
    super(status === undefined ? said.message : `${status}: ${said.message}`);
    this.status = status;
    this.type = said.type;
    this.param = said.param;
    this.code = said.code;
    this.body = body;
    this.headers = headers;
  }

  /** By which the server's log knows the request. */
  get requestId(): string | undefined {
    return this.headers.get("x-request-id") ?? undefined;
  }
}

/** The request isn't valid: 400. */
export class BadRequestError extends ApiError {
  override readonly name = "BadRequestError";
}

/** The key is missing or wrong: 401. */
export class AuthenticationError extends ApiError {
  override readonly name = "AuthenticationError";
}

/** The key doesn't allow it: 403. */
export class PermissionDeniedError extends ApiError {
  override readonly name = "PermissionDeniedError";
}

/** There is no such model or object: 404. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
}

/** Another request is in the way: 409. */
export class ConflictError extends ApiError {
  override readonly name = "ConflictError";
}

/** The request can't be processed: 422. */
export class UnprocessableEntityError extends ApiError {
  override readonly name = "UnprocessableEntityError";
}

/** There were too many requests: 429. */
export class RateLimitError extends ApiError {
  override readonly name = "RateLimitError";
}

/** The server failed: 500 and above. */
export class InternalServerError extends ApiError {
  override readonly name = "InternalServerError";
}

const OF_STATUS: Record<number, typeof ApiError> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError,
};

/** There was no answer, or it broke off. */
export class ConnectionFailed extends Error {
  override readonly name: string = "ConnectionFailed";
}

/** The server took too long. */
export class TimedOut extends ConnectionFailed {
  override readonly name = "TimedOut";
}

/** The answer is no JSON object, or no stream where one was asked for. */
export class InvalidAnswer extends Error {
  override readonly name = "InvalidAnswer";
}

/** The error that an answer describes, of the class of its status. */
export function refusal(body: unknown, status?: number, headers?: Headers): ApiError {
  const kind = status === undefined ? ApiError : status >= 500 ? InternalServerError : (OF_STATUS[status] ?? ApiError);
  return new kind(body, status, headers);
}

/** Whether a value, such as a stream's event, says that something went wrong. */
export function isError(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const said = value as Record<string, unknown>;
  return said["type"] === "error" || (Boolean(said["error"]) && !("object" in said));
}

interface Said {
  message: string;
  type?: string;
  param?: string;
  code?: string | number;
}

/** The error that an answer describes, in any of the known shapes. */
function errorIn(body: unknown): Said {
  if (typeof body === "string") {
    try {
      return errorIn(JSON.parse(body)); // JSON within JSON
    } catch {
      return { message: body.trim() || "the answer is empty" };
    }
  }
  if (typeof body !== "object" || body === null) return { message: JSON.stringify(body) ?? "the answer is empty" };
  const holder = body as Record<string, unknown>;
  const error = holder["error"] ?? body;
  const isText = typeof error !== "object"; // the other fields may be beside it
  const { message, detail, type, param, code } = (isText ? body : error) as Record<string, unknown>;
  const text = isText ? String(error) : (message ?? detail ?? error);
  return {
    message: typeof text === "string" ? text : JSON.stringify(text),
    ...(typeof type === "string" && { type }),
    ...(typeof param === "string" && { param }),
    ...((typeof code === "string" || typeof code === "number") && { code }),
  };
}
