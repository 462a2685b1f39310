print("callsim")
