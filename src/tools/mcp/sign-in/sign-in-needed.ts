import { ColloquyError } from "../../../protocol/errors.ts";

/** 401: a server is used as its user, who is not signed in there, or not any more. */
export class SignInNeeded extends ColloquyError {
  constructor(reason: string, options?: ErrorOptions) {
    super("sign_in_needed", 401, reason, options);
  }
}
